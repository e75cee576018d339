"""Interpret results of browser tools: page, element and error.

The tools of Playwright, Puppeteer, Chrome's developer tools, Selenium and Electron servers are recognised by name, in the spelling of any
agent. Only the text of a result is read, not its pictures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from graphmem.runtime.patterns import lazy_pattern

PRECONDITION, TIMING, BEHAVIOUR, SEQUENCE, TOOL = "precondition", "timing", "ui_behavior", "test_sequence", "mcp_gotcha"
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "::1"})  # noqa: S104 - names of hosts in addresses
KINDS: Final = (PRECONDITION, TIMING, BEHAVIOUR, SEQUENCE, TOOL)
SAID: Final = 160  # characters of an error
NAMED: Final = 60  # characters of an element or a page

_BROWSER: Final = lazy_pattern(
    r"(?:^|[_:./\s-])(?:browser|playwright|puppeteer|chrome(?:-?devtools)?|devtools|selenium|webdriver|electron|cypress|stagehand)(?:[_:./\s-]|$)",
    re.IGNORECASE,
)
_PREFIX: Final = lazy_pattern(
    r"^(?:(?:mcp|browser|playwright|puppeteer|chrome|devtools|selenium|webdriver|electron)[_:./\s-]+)+", re.IGNORECASE
)
_PAGE: Final = lazy_pattern(r"^\s*(?:- )?(?:Page )?URL:\s*(?P<url>\S+)", re.MULTILINE | re.IGNORECASE)
_FAILED: Final = lazy_pattern(
    r"^(?:#+ Error|Error:|Error calling|TimeoutError|Uncaught|MCP error)|\bTimeout \d+ ?ms exceeded|\bisError\b",
    re.MULTILINE | re.IGNORECASE,
)
_LINE: Final = lazy_pattern(r"^.*?(?P<said>(?:[A-Za-z.]*Error: ?|Error calling |Ref ).+)$", re.MULTILINE)
_SLOW: Final = lazy_pattern(r"\btime[d-]? ?out\b|TimeoutError|Timeout \d+ ?ms exceeded", re.IGNORECASE)
_STATE: Final = lazy_pattern(
    r"not (?:visible|enabled|attached|stable|editable|clickable|interactable)|intercepts pointer events|outside of the viewport|"
    r"strict mode violation|resolved to \d+ elements|is (?:hidden|disabled|detached|covered)",
    re.IGNORECASE,
)
_OF_TOOL: Final = lazy_pattern(
    r"\bRef \S+ not found|take (?:a )?new snapshot|stale|no (?:open )?(?:page|tab|browser)|"
    r"browser is (?:already in use|not (?:installed|running))|"
    r"target (?:page|closed)|execution context was destroyed|does not handle the modal|unknown tool|invalid arguments",
    re.IGNORECASE,
)
_CONSOLE: Final = lazy_pattern(r"^\s*(?:- )?\[?(?:ERROR|console\.error|error)\]?:?\s+(?P<said>(?!0 )\S.*)$", re.MULTILINE)
_SIGN_IN: Final = lazy_pattern(r"/(?:[a-z]{2}/)?(?:accounts?/|users?/|auth/|session/)?(?:log-?in|sign-?in|sso|auth)\b", re.IGNORECASE)
_E2E: Final = lazy_pattern(
    r"\b(?:playwright|cypress|wdio|webdriverio|testcafe|nightwatch|detox|maestro|codeceptjs|protractor|e2e|end-to-end)\b"
)
_TITLE: Final = lazy_pattern(r"^\s*(?:\d+\)|✘|✗|×|FAILED?)\s+(?P<title>\S.{3,160})$", re.MULTILINE)


class Seen(NamedTuple):
    """The action and the outcome of one use of a browser tool."""

    what: str  # "click Save"
    page: str  # path on a local page, else the whole address; "" if unknown
    ok: bool
    kind: str = ""  # of the observation, one of KINDS; "" for none
    said: str = ""  # the words of the observation


def is_browser(tool: str) -> bool:
    """Whether a tool controls a browser, judged by its name."""
    return _BROWSER.search(tool) is not None


def is_end_to_end(command: str) -> bool:
    """Whether a command runs tests in a browser or on a device."""
    return _E2E.search(command) is not None


def page_of(args: Mapping[str, object], text: str) -> str:
    """Return the address of the page that a browser call shows; "" if unknown.

    The address is read from `text`, the call's result, or else from `args`, its arguments.
    """
    found = _PAGE.search(text)
    given = args.get("url")
    return found["url"] if found is not None else given if isinstance(given, str) else ""


def is_local(page: str) -> bool:
    """Whether a page is served by this machine, such as a project's own page."""
    if page.startswith(("file:", "about:")):
        return True
    try:
        host = urlsplit(page if "://" in page else f"http://{page}").hostname or ""
    except ValueError:
        return False
    return host in _LOCAL or host.endswith(".localhost")


def interpret(tool: str, args: Mapping[str, object], text: str, ok: bool | None, page: str) -> Seen:
    """Interpret one call of a browser tool with its result.

    Args:
        tool: the agent's name of the tool.
        args: arguments of the call.
        text: text of the result.
        ok: whether the call succeeded; None if not reported.
        page: address of the page that the browser showed after the call.
    """
    what, where = _what(tool, args), path_of(page)
    failed = ok is False or (ok is None and _FAILED.search(text) is not None)
    asked = args.get("url")
    if isinstance(asked, str) and not failed and _SIGN_IN.search(where) and not _SIGN_IN.search(path_of(asked)):
        return Seen(what, path_of(asked), True, PRECONDITION, where)
    if not failed:
        told = _CONSOLE.search(text)
        return Seen(what, where, True, BEHAVIOUR, _short(told["said"])) if told is not None else Seen(what, where, True)
    line = _LINE.search(text)
    said = _short(line["said"] if line is not None else next((one for one in text.splitlines() if one.strip("# ").strip()), ""))
    # The tool's own trouble first: a stale reference is also reported as an element that is missing.
    kind = TOOL if _OF_TOOL.search(text) else BEHAVIOUR if _STATE.search(text) else TIMING if _SLOW.search(text) else ""
    if kind == BEHAVIOUR and (state := _STATE.search(text)) is not None and state[0].lower() not in said.lower():
        said = _short(f"{said}: {state[0]}")
    return Seen(what, where, False, kind, said)


def test_seen(command: str, text: str) -> Seen:
    """Find the failed test and its error in the output of browser tests.

    `command` names the test if `text`, the output, has no title of a test.
    """
    title = _TITLE.search(text)
    line = _LINE.search(text)
    said = _short(line["said"]) if line is not None else ""
    kind = TIMING if _SLOW.search(text) else BEHAVIOUR
    return Seen(_short(title["title"]) if title is not None else command, "", False, kind if said else "", said)


def path_of(page: str) -> str:
    """Shorten a page's address; drop its query string.

    For a local page the result is only the path: `/cart` for `http://localhost:3000/cart?id=1`. For any other page the host is kept.
    """
    plain = re.split(r"[?#]", page, maxsplit=1)[0]
    if is_local(page):
        return (re.sub(r"^[a-z-]+://[^/]*", "", plain) or "/")[:NAMED]
    return plain[: 2 * NAMED]


def _what(tool: str, args: Mapping[str, object]) -> str:
    verb = " ".join(_PREFIX.sub("", tool.rpartition("__")[2] or tool).replace("_", " ").split())
    names = ("element", "selector", "text", "name", "ref", "url", "key")
    on = next((str(args[key]) for key in names if isinstance(args.get(key), str) and args[key]), "")
    return " ".join(f"{verb} {path_of(on) if '://' in on else on}".split())[:NAMED]


def _short(text: str) -> str:
    plain = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split())
    return plain if len(plain) <= SAID else plain[: SAID - 1].rstrip() + "…"
