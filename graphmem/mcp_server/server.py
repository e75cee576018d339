"""The MCP server: validates arguments, calls tools, formats errors."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import anyio.to_thread
import jsonschema
import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError

import graphmem
from graphmem.errors import BadInputError, GraphMemError
from graphmem.mcp_server.prompts import PROMPTS, RESOURCES, message_of, text_of
from graphmem.mcp_server.text import refusal
from graphmem.mcp_server.tools import BRANCH, INSTRUCTIONS, OF_BRANCHES, RENAMED, TOOLS, Tool
from graphmem.runtime.network.pushes import no_branches
from graphmem.runtime.process.limits import refusal_of_any
from graphmem.runtime.texts.safe_text import inert_lines

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from mcp.server.context import ServerRequestContext

    from graphmem.client.connecting import Service

_log = logging.getLogger(__name__)


Opened: TypeAlias = "Callable[[str], AbstractAsyncContextManager[Service]]"
"""Returns a context manager that opens a branch, given its name."""

_Page: TypeAlias = "types.PaginatedRequestParams | None"


def build_server(service: Callable[[], Service], of_branch: Opened | None = None) -> Server[Any]:
    """Build the MCP server, without a transport such as stdio.

    Args:
        service: returns the open project; called for each request, from any thread. The caller closes the project.
        of_branch: opens a branch that the argument `branch` of a tool names; None if the server keeps no branches.
    """
    handlers = _Handlers(service, of_branch)
    return Server(
        "graphmem",
        version=graphmem.__version__,
        instructions=INSTRUCTIONS if of_branch is None else INSTRUCTIONS + OF_BRANCHES,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_list_resources=handlers.list_resources,
        on_read_resource=handlers.read_resource,
    )


class _Handlers:
    """Answers the requests of an agent; the arguments are those of MCP."""

    def __init__(self, service: Callable[[], Service], of_branch: Opened | None) -> None:
        self._service = service
        self._of_branch = of_branch

    async def list_tools(self, context: ServerRequestContext[object], params: _Page) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[types.Tool(name=name, description=tool.description, input_schema=tool.schema) for name, tool in TOOLS.items()]
        )

    async def call_tool(self, context: ServerRequestContext[object], params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            given = dict(params.arguments or {})
            branch = _branch(given)
            tool, arguments = _checked(params.name, given)
            budget = arguments.pop("budget", tool.budget)
            if not branch:
                answer = await anyio.to_thread.run_sync(lambda: tool.answer(self._service(), arguments, budget))
            elif self._of_branch is None:
                raise no_branches()
            else:
                async with self._of_branch(branch) as there:
                    answer = await anyio.to_thread.run_sync(lambda: tool.answer(there, arguments, budget))
        except Exception as error:  # noqa: BLE001 - reported to the agent
            return types.CallToolResult(content=[types.TextContent(type="text", text=_error_text(error, params.name))], is_error=True)
        return types.CallToolResult(content=[types.TextContent(type="text", text=inert_lines(answer))])

    async def list_prompts(self, context: ServerRequestContext[object], params: _Page) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=name, description=prompt.description, arguments=[types.PromptArgument(**one._asdict()) for one in prompt.arguments]
                )
                for name, prompt in PROMPTS.items()
            ]
        )

    async def get_prompt(self, context: ServerRequestContext[object], params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            said = await anyio.to_thread.run_sync(lambda: message_of(self._service(), params.name, params.arguments or {}))
        except Exception as error:
            raise MCPError(_code(error), _error_text(error, params.name)) from error
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=inert_lines(said)))
        return types.GetPromptResult(description=PROMPTS[params.name].description, messages=[message])

    async def list_resources(self, context: ServerRequestContext[object], params: _Page) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=uri, name=one.name, description=one.description, mime_type=one.mime_type)
                for uri, one in RESOURCES.items()
            ]
        )

    async def read_resource(
        self, context: ServerRequestContext[object], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            mime_type, said = await anyio.to_thread.run_sync(lambda: text_of(self._service(), str(params.uri)))
        except Exception as error:
            raise MCPError(_code(error), _error_text(error, str(params.uri))) from error
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, mime_type=mime_type, text=inert_lines(said))])


def _error_text(error: Exception, subject: str) -> str:
    """Return an error as text for an agent.

    The text of an expected error states what to do. An internal error gets an id, and the log has the traceback under this id.
    """
    refused = error if isinstance(error, GraphMemError) else refusal_of_any(error)
    if refused is None:
        name = secrets.token_hex(6)
        _log.error("internal error %s at %s", name, subject, exc_info=error)
        refused = GraphMemError(f"internal error {name}; the log has the details under this id, please report it")
    elif refused is not error:
        _log.warning("%s", refused.message)
    return inert_lines(refusal(refused))


def _code(error: Exception) -> int:
    return types.INVALID_PARAMS if isinstance(error, GraphMemError) else types.INTERNAL_ERROR


def _branch(arguments: dict[str, Any]) -> str:
    """Remove the argument `branch` from a tool's arguments; return its value.

    The result is "" without this argument. On a server of several projects, every tool accepts it.

    Raises:
        BadInputError: the branch is not a string.
    """
    branch = arguments.pop(BRANCH, "") or ""
    if not isinstance(branch, str):
        raise BadInputError(f"{BRANCH} must be a string; give the name of a pushed branch", argument=BRANCH)
    return branch


_NUMBER: Final = re.compile(r"-?\d{1,18}(?:\.\d+)?")  # Python converts no string of more than 4,300 digits
_BOOLEANS: Final = {"true": True, "false": False}
_VALUES: Final = {
    "integer": "a whole number, such as 5",
    "number": "a number, such as 0.5",
    "boolean": "true or false",
    "string": "a string",
    "array": "a list",
}
"""What to give for an argument, by the type in its JSON schema."""


def _checked(name: str, arguments: dict[str, Any]) -> tuple[Tool, dict[str, Any]]:
    """Return the tool that an agent calls, and its validated arguments.

    Raises:
        BadInputError: the tool is unknown, or an argument is invalid.
    """
    tool = TOOLS.get(name)
    if tool is None:
        raise BadInputError(f"unknown tool {name!r}; use one of {', '.join(TOOLS)}", argument="name", value=name)
    known = tool.checked["properties"]
    arguments = {RENAMED[one] if one in RENAMED and RENAMED[one] in known else one: value for one, value in arguments.items()}
    arguments = {one: _converted(value, known.get(one)) for one, value in arguments.items()}
    error = jsonschema.Draft202012Validator(tool.checked).iter_errors(arguments)
    for one in error:
        path = ".".join(map(str, one.absolute_path))
        what = f"argument {path} of {name}" if path else f"call of {name}"
        remedy = f"; {name} takes {', '.join(known)}" if one.validator in ("additionalProperties", "required") else ""
        if one.validator == "type" and one.validator_value in _VALUES:
            remedy = f"; give {_VALUES[one.validator_value]}"
        raise BadInputError(f"invalid {what}: {one.message[:300]}{remedy}", argument=path or name)
    return tool, arguments


def _converted(value: object, schema: object) -> Any:
    """Convert the value of an argument to the type in its JSON schema.

    Agents often send a single value for a list, or a number as a string. Other values are returned unchanged.
    """
    kind = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(value, float) and kind == "integer" and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        return value
    if kind == "array":
        return [value]
    if kind == "boolean":
        return _BOOLEANS.get(value.strip().lower(), value)
    if kind in ("integer", "number") and _NUMBER.fullmatch(value.strip()):
        if "." not in value:
            return int(value)
        return float(value) if kind == "number" else value
    return value
