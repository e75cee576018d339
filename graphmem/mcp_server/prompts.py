"""Prompts and resources of the Model Context Protocol (MCP).

A person selects a prompt from a menu, and an agent reads a resource. Unlike tools, prompts and resources take no tokens until they are
used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.errors import BadInputError
from graphmem.mcp_server import impact_text, lines
from graphmem.operations.memory import TO_KNOW

if TYPE_CHECKING:
    from graphmem.client.connecting import Service

DIFF_TOKENS: Final = 3_000
NEWCOMERS: Final = 10  # memories for a newcomer
Given = Mapping[str, str]


class Argument(NamedTuple):
    """An argument of an MCP prompt, whose value is text."""

    name: str
    description: str
    required: bool


class Prompt(NamedTuple):
    """An MCP prompt: its description, and the function that makes its message."""

    description: str
    arguments: tuple[Argument, ...]
    message: Callable[[Service, Given], str]


class Resource(NamedTuple):
    """An MCP resource: a document that an agent can read by its URI."""

    name: str
    description: str
    mime_type: str
    read: Callable[[Service], str]


def _onboard(service: Service, given: Given) -> str:
    area = given.get("area", "")
    known = service.context("prompt", text=area, files=(area,), format="markdown") if area else service.context("start", format="markdown")
    about = f" around {area}" if area else ""
    head = f"I am new to this project{about}. Explain what I have to know to work here, with the places to read first. Check what you say."
    told = {one.id for one in known.items}
    page = service.memories(TO_KNOW, sort="worth", limit=NEWCOMERS)
    rest = [f"- #{one.short_id} {lines.line_of(one)}" for one in page.memories if one.id not in told]
    return "\n\n".join(filter(None, (head, known.text, "\n".join(["The most used memories of this project:", *rest]) if rest else "")))


def _plan(service: Service, given: Given) -> str:
    modules = [one.strip() for one in given.get("modules", "").split(",") if one.strip()]
    known = service.plan_context(given["task"], modules, "markdown")
    head = f"Plan this task step by step, small steps first, with the tests that show each is done: {given['task']}"
    return "\n\n".join(filter(None, (head, known.text)))


def _review_diff(service: Service, given: Given) -> str:
    answer = service.impact_of_diff(base=given.get("base") or "HEAD")
    known = service.context("tool", files=answer.files[:100], format="markdown") if answer.files else None
    head = "Review this change: what could break, which of these dependents were forgotten, which tests have to be run."
    return "\n\n".join(filter(None, (head, impact_text.diff_impact(answer, DIFF_TOKENS), known.text if known is not None else "")))


PROMPTS: Final[dict[str, Prompt]] = {
    "onboard": Prompt(
        "Introduce a new developer to this project.",
        (Argument("area", "a directory, a file or a question to begin with", False),),
        _onboard,
    ),
    "plan": Prompt(
        "Plan a task with memories of similar work in the past.",
        (Argument("task", "what is to be done", True), Argument("modules", "directories or files, with commas", False)),
        _plan,
    ),
    "review-diff": Prompt(
        "Review the changes of the working tree and the code they could break.",
        (Argument("base", "git revision to compare with; default HEAD", False),),
        _review_diff,
    ),
}


def _rules(service: Service) -> str:
    found, notes = service.rules()
    return "\n\n".join([*(f"## {one.name}\n\n{one.text}" for one in found), *notes]) or "This project has no rules."


RESOURCES: Final[dict[str, Resource]] = {
    "graphmem://rules": Resource("rules", "Rules of the user and the project, verbatim.", "text/markdown", _rules),
    "graphmem://MEMORY.md": Resource(
        "MEMORY.md", "Every memory in use, as Markdown.", "text/markdown", lambda service: service.export_memories("markdown")
    ),
    "graphmem://start": Resource(
        "start",
        "Context for the start of a session.",
        "text/markdown",
        lambda service: service.context("start", format="markdown").text or "No context for the start of a session exists yet.",
    ),
}


def message_of(service: Service, name: str, given: Mapping[str, object]) -> str:
    """Return the message that the MCP prompt `name` sends to the model.

    `given` has the arguments of the prompt, by name.

    Raises:
        BadInputError: the prompt is unknown, or an argument is missing or unknown.
    """
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise BadInputError(f"unknown prompt {name!r}; use one of {', '.join(PROMPTS)}", argument="name", value=name)
    known = {one.name for one in prompt.arguments}
    if unknown := sorted(set(given) - known):
        raise BadInputError(f"the prompt {name} has no argument {unknown[0]!r}; use {', '.join(sorted(known))}", argument=unknown[0])
    for one in prompt.arguments:
        if one.required and not str(given.get(one.name, "")).strip():
            raise BadInputError(f"the prompt {name} needs the argument {one.name}; give {one.description}", argument=one.name)
    return prompt.message(service, {key: str(value) for key, value in given.items()})


def text_of(service: Service, uri: str) -> tuple[str, str]:
    """Return MIME type and text of an MCP resource, by its URI.

    Raises:
        BadInputError: the resource is unknown.
    """
    resource = RESOURCES.get(uri)
    if resource is None:
        raise BadInputError(f"unknown resource {uri!r}; use one of {', '.join(RESOURCES)}", argument="uri", value=uri)
    return resource.mime_type, resource.read(service)
