"""A model that is played on this machine, in the protocols of four agents: it asks for tools in a given order, and ends."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

READ = "starlette/background.py"
EDIT = ("class BackgroundTask:", "class BackgroundTask(object):")
TASK = f"Say in one sentence what {READ} is for."  # of a subagent
LAST_WORDS = "The stream is read once. Done."
PATCH = f"*** Begin Patch\n*** Update File: {READ}\n@@\n-{EDIT[0]}\n+{EDIT[1]}\n*** End Patch\n"

# What the model wants -> names of the tool in these agents, and how its parameters may be called.
TOOLS = {
    "read": ("Read", "read_file", "read"),
    "run": ("Bash", "run_shell_command", "bash", "exec_command"),
    "edit": ("Edit", "replace", "edit"),
    "ask": ("mcp__graphmem__search", "mcp_graphmem_search", "graphmem_search"),
    "delegate": ("Agent", "Task"),
}
PARAMETERS = {
    "path": ("file_path", "filePath"),
    "command": ("command", "cmd"),
    "old": ("old_string", "oldString"),
    "new": ("new_string", "newString"),
    "query": ("query",),
    "task": ("prompt",),
    "kind": ("subagent_type",),
}
Call = tuple[str, dict[str, Any]]
Wanted = tuple[str, dict[str, str]]


def called(wanted: Wanted, offered: dict[str, dict[str, Any]]) -> Call | None:
    """The call of a tool that does what is wanted, of those an agent offers (name -> JSON schema); None when there is none."""
    kind, values = wanted
    if kind == "read" and "exec_command" in offered:  # an agent that reads in a shell
        kind, values = "run", {"command": f"cat {values['path']}"}
    if kind == "edit" and "apply_patch" in offered:
        return "apply_patch", {"input": PATCH}
    name = next((one for one in TOOLS[kind] if one in offered), None)
    if name is None:
        return None
    known = offered[name].get("properties", {})
    args = {next(one for one in PARAMETERS[key] if one in known): value for key, value in values.items()}
    return name, {**{one: "as asked" for one in offered[name].get("required", ()) if one not in args}, **args}


def events(chunks: list[dict[str, Any]]) -> bytes:
    return b"".join(b"event: %s\ndata: %s\n\n" % (one["type"].encode(), json.dumps(one).encode()) for one in chunks)


class Anthropic:
    """`/v1/messages`."""

    @staticmethod
    def offered(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return {one["name"]: one["input_schema"] for one in body.get("tools", ()) if "input_schema" in one}

    @staticmethod
    def results(body: dict[str, Any]) -> int:
        parts = [part for one in body["messages"] if isinstance(one["content"], list) for part in one["content"]]
        return sum(part["type"] == "tool_result" for part in parts)

    @staticmethod
    def answer(call: Call | None, place: int, body: dict[str, Any]) -> bytes:
        message = {"id": f"msg_{place}", "type": "message", "role": "assistant", "model": body["model"], "content": []}
        usage = {"input_tokens": 10, "output_tokens": 5}
        block = {"type": "tool_use", "id": f"toolu_{place}", "name": call[0], "input": {}} if call else {"type": "text", "text": ""}
        text = {"type": "input_json_delta", "partial_json": json.dumps(call[1])} if call else {"type": "text_delta", "text": LAST_WORDS}
        end = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        return events(
            [
                {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}},
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_delta", "index": 0, "delta": text},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": end, "usage": usage},
                {"type": "message_stop"},
            ]
        )


class OpenAIResponses:
    """`/v1/responses`."""

    @staticmethod
    def offered(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return {one["name"]: one.get("parameters", {}) for one in body.get("tools", ()) if one["type"] in ("function", "custom")}

    @staticmethod
    def results(body: dict[str, Any]) -> int:
        return sum(str(one.get("type")).endswith("_call_output") for one in body["input"])

    @staticmethod
    def answer(call: Call | None, place: int, body: dict[str, Any]) -> bytes:
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        item: dict[str, Any] = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": LAST_WORDS}]}
        if call:
            item = {
                "type": "function_call",
                "id": f"f{place}",
                "call_id": f"call_{place}",
                "name": call[0],
                "arguments": json.dumps(call[1]),
            }
        if call and call[0] == "apply_patch":  # takes its text as it is
            item = {"type": "custom_tool_call", "id": f"f{place}", "call_id": f"call_{place}", "name": call[0], **call[1]}
        response = {"id": f"r{place}", "object": "response"}
        return events(
            [
                {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
                {"type": "response.output_item.done", "output_index": 0, "item": {**item, "status": "completed"}},
                {"type": "response.completed", "response": {**response, "status": "completed", "output": [item], "usage": usage}},
            ]
        )


class OpenAIChat:
    """`/v1/chat/completions`."""

    @staticmethod
    def offered(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return {one["function"]["name"]: one["function"]["parameters"] for one in body.get("tools", ())}

    @staticmethod
    def results(body: dict[str, Any]) -> int:
        return sum(one["role"] == "tool" for one in body["messages"])

    @staticmethod
    def answer(call: Call | None, place: int, body: dict[str, Any]) -> bytes:
        said: dict[str, Any] = {"role": "assistant", "content": LAST_WORDS}
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            said = {"role": "assistant", "tool_calls": [{"index": 0, "id": f"call_{place}", "type": "function", "function": function}]}
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
        parts = [
            {**chunk, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
            {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}]},
        ]
        return b"".join(b"data: %s\n\n" % json.dumps(one).encode() for one in parts) + b"data: [DONE]\n\n"


class Google:
    """`/v1beta/models/…:streamGenerateContent`."""

    @staticmethod
    def offered(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
        declared = [one for tool in body.get("tools", ()) for one in tool.get("functionDeclarations", ())]
        return {one["name"]: one.get("parametersJsonSchema") or one.get("parameters") or {} for one in declared}

    @staticmethod
    def results(body: dict[str, Any]) -> int:
        return sum("functionResponse" in part for one in body["contents"] for part in one["parts"])

    @staticmethod
    def answer(call: Call | None, place: int, body: dict[str, Any]) -> bytes:
        part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": LAST_WORDS}
        found = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        return b"data: %s\r\n\r\n" % json.dumps({"candidates": [found], "usageMetadata": usage}).encode()


SPEAKS = {"/v1/messages": Anthropic, "/v1/responses": OpenAIResponses, "/v1/chat/completions": OpenAIChat, ":streamGenerateContent": Google}


class PlayedModel:
    """A model on loopback that wants one thing after the other, and then ends.

    Args:
        wanted: things, in order; one the agent offers no tool for is passed over.
        at_first: called before the first answer to a request that offers tools.
        by_subagent: things that a conversation wants that begins with TASK.
    """

    def __init__(self, wanted: list[Wanted], at_first: Callable[[], None], by_subagent: Sequence[Wanted] = ()) -> None:
        self.read: list[str] = []  # requests that offered tools, as they came
        played = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                return

            def do_HEAD(self) -> None:
                self._send(b"", "text/plain")

            def do_GET(self) -> None:
                self._send(b'{"object": "list", "data": [], "models": []}', "application/json")

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                path = self.path.partition("?")[0]
                language = next((one for end, one in SPEAKS.items() if path.endswith(end)), None)
                if language is None:
                    return self._send(b'{"input_tokens": 1, "totalTokens": 1}', "application/json")
                body = json.loads(raw)
                offered, place = language.offered(body), language.results(body)
                if offered:
                    if not played.read:
                        at_first()
                    played.read.append(raw.decode())
                mine = by_subagent if TASK in json.dumps(body.get("messages", [""])[0]) else wanted
                call = next((found for one in mine[place:] if (found := called(one, offered))), None) if offered else None
                return self._send(language.answer(call, place, body), "text/event-stream")

            def _send(self, data: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
