"""No thread or task of graphmem may end because of an error that nobody catches: its work is not done any more, and nobody is told."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphmem

PACKAGE = Path(graphmem.__file__).parent
OF_THE_STANDARD_LIBRARY = {"wait"}  # waiting for a process to end
ONE_CALL = {  # threads that do one thing, which handles its own errors
    "_end_with_caller": "waits for the end of a pipe and ends the process",
    "_end_when_moved": "looks at a folder and ends the process",
    "_pump": "hands steps on; a loop that was closed is passed over",
    "listen": "shows progress at a terminal, where the command's hook for threads speaks",
    "cut": "closes a socket whose time is up",
    "_remove": "deletes a copy; what cannot be deleted is logged",
    "_exchange": "asks a server once; a hook says nothing when it gets no answer",
}
AWAITED = {  # tasks whose errors another one hears
    "_send_body": "the request that began it awaits it",
    "_answer": "the request that began it awaits it",
    "outwards": "the WebSocket that began it awaits it",
    "inwards": "the WebSocket that began it awaits it",
    "_begin": "a callback closes the connection and logs the error",
    "_next": "its future is awaited",
    "live": "is awaited at the end of the sessions",
}
TASKS = ("create_task", "ensure_future")


def begins_threads(path: Path) -> bool:
    """Whether a file seems to start a thread, timer or task: parsing every file would cost each collection seconds."""
    source = path.read_text(encoding="utf-8")
    return any(f"{one}(" in source for one in ("Thread", "Timer", *TASKS))


def targets(tree: ast.Module) -> Iterator[str]:
    """Every function of a file that a thread, timer or task runs."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        kind = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        work = [one.value for one in call.keywords if one.arg == "target"] if kind == "Thread" else call.args[1:2] * (kind == "Timer")
        if kind in TASKS:
            work = [one.func if isinstance(one, ast.Call) else one for one in call.args[:1]]
        for one in work:
            yield one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", ast.unparse(one))


def catches_all(tree: ast.Module, name: str, depth: int = 2) -> bool:
    """Whether a function, or one it calls in the same file, catches every exception."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    found = functions.get(name)
    if found is None or not depth:
        return False
    inside = list(ast.walk(found))
    caught = {ast.unparse(node.type) for node in inside if isinstance(node, ast.ExceptHandler) and node.type is not None}
    if caught & {"Exception", "BaseException"}:
        return True
    calls = [node.func for node in inside if isinstance(node, ast.Call)]
    called = {one.attr if isinstance(one, ast.Attribute) else one.id for one in calls if isinstance(one, (ast.Attribute, ast.Name))}
    return any(catches_all(tree, one, depth - 1) for one in called & functions.keys())


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if begins_threads(path)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_thread_or_task_catches_what_nobody_else_can(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = OF_THE_STANDARD_LIBRARY | ONE_CALL.keys() | AWAITED.keys()
    assert [name for name in targets(tree) if name not in known and not catches_all(tree, name)] == []


def test_threads_were_found():
    assert sum(len(list(targets(ast.parse(path.read_text(encoding="utf-8"))))) for path in FILES) > 15
