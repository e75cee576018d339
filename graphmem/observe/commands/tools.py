"""Recognise agents' tools by name: their actions and files.

The table covers Claude Code, Codex, Cursor, Gemini CLI, OpenCode, Windsurf, Cline, Aider and plain shells. Any other tool has the action
`other`. The use of such a tool is counted, but its files are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from graphmem.observe.commands.shell import command_of, line_of, urls_of

OWN_SERVER: Final = "graphmem"  # answers of this memory service are not evidence
PATHS: Final = 64  # files of one call

# Action -> names of tools; all others have the action "other".
# Lower case, only letters and digits: "run_terminal_cmd" and "runTerminalCmd" are the same name.
TOOLS: Final[dict[str, str]] = {
    name: action
    for action, names in {
        "read": "read readfile readmanyfiles readfiles viewfile view viewimage notebookread openfile catfile getfilecontents "
        "fileread readtextfile readmultiplefiles viewcode viewcodeitem readlints",
        "edit": "edit multiedit write writefile writetofile notebookedit editfile searchreplace strreplace replace replaceinfile "
        "applypatch patch createfile insert inserttext applydiff deletefile createnewfile editexistingfile strreplaceeditor texteditor "
        "replacestringinfile multireplacestringinfile inserteditintofile editnotebook strreplacebasededittool reapply filewrite "
        "fileedit proposecode replacefilecontent",
        "search": "grep greps search searchfiles searchfilecontent codebasesearch grepsearch ripgrep rg searchcode findreferences "
        "searchtext searchcodebase symbolsearch semanticsearch",
        "list": "glob ls list listdir listdirectory listfiles filesearch findfiles findbyname globsearch listcodedefinitionnames "
        "codeoutline directorytree",
        "run": "bash shell localshell localshellcall exec execcommand execute executecommand runcommand runterminalcmd runterminalcommand "
        "runshellcommand terminal runinterminal powershell containerexec unifiedexec bashoutput",
        "web": "webfetch websearch web fetch fetchurl urlfetch googlewebsearch readurlcontent browse browser browseraction browseropen "
        "visiturl openurl fetchwebpage webrun searchweb webbrowser",
        "test": "runtests runtest testrun testfailure",
    }.items()
    for name in names.split()
}
PLAIN: Final = re.compile(r"[^A-Za-z0-9]")
# A tool of an MCP server is classified by its own name.
FOREIGN: Final = re.compile(r"^mcp_{1,2}(?P<server>[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*?)_{1,2}(?P<tool>[\w-]+)$")
_FOREIGN_WEB: Final = re.compile(r"fetch|browse|navigate|crawl|scrape|web|search_?(?:issues|web)|http|url|docs|page", re.IGNORECASE)

_PATH_KEYS: Final = (
    "file_path", "path", "target_file", "filePath", "absolute_path", "notebook_path", "filename", "file", "relative_workspace_path",
    "relative_path", "filepath", "AbsolutePath", "TargetFile", "target_notebook", "absolutePath", "uri",
)  # fmt: skip
_MANY_KEYS: Final = ("paths", "files", "file_paths", "filePaths")
_PATTERN_KEYS: Final = ("pattern", "query", "regex", "search_term", "search", "Query", "SearchTerm", "q")
COMMAND_KEYS: Final = ("command", "cmd", "CommandLine", "script", "commandLine")
_FOLDER_KEYS: Final = ("path", "directory", "dir_path", "target_directory", "relative_workspace_path", "DirectoryPath")
_URL_KEYS: Final = ("url", "urls", "uri", "Url", "link", "prompt", "query")
_OLD_KEYS: Final = ("old_string", "oldString", "old_str", "old_text", "old", "search")
_NEW_KEYS: Final = (
    "new_string",
    "newString",
    "new_str",
    "new_text",
    "new",
    "replace",
    "content",
    "contents",
    "file_text",
    "text",
    "code_edit",
    "new_source",
)
_CELL_KEYS: Final = ("cell_id", "cell_number", "cell_idx")
_PATCH_KEYS: Final = ("patch", "diff", "input", "patchText", "command")
_PAGE_KEYS: Final = ("offset", "page", "cursor", "start_line")

_PATCH_FILE: Final = re.compile(r"^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ b/)(?P<path>\S[^\n\t]*)", re.MULTILINE)


class Change(NamedTuple):
    """One replacement of text in a file by a tool of an agent."""

    path: str
    old: str | None  # None: the whole file or cell is written
    new: str
    cell: str = ""  # id or place of a cell of a notebook
    inserts: bool = False  # a new cell is inserted after `cell`


class Call(NamedTuple):
    """A tool call in a form that is the same for all agents.

    A `Call` has the action, such as `edit`, and its subject: paths, a pattern, a command or addresses.
    """

    action: str
    label: str  # "edit", "search", or the command that runs: "run:alembic upgrade"
    paths: tuple[str, ...] = ()  # as the agent wrote them
    pattern: str = ""
    command: str = ""
    urls: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    reverted: tuple[str, ...] = ()  # see observe.shell
    web: bool = False
    later_page: bool = False  # the next page of an answer, not a new question
    removed: tuple[str, ...] = ()  # see observe.shell


def action_of(tool: str) -> str:
    """Return what an agent's tool does, such as `read`, by its name."""
    plain = PLAIN.sub("", tool).lower()
    known = TOOLS.get(plain)
    if known is not None:
        return known
    if (foreign := FOREIGN.match(tool)) and foreign["server"].lower() != OWN_SERVER:
        return TOOLS.get(PLAIN.sub("", foreign["tool"]).lower()) or ("web" if _FOREIGN_WEB.search(foreign["tool"]) else "other")
    return "other"


def call_of(tool: str, args: Mapping[str, object]) -> Call:
    """Convert an agent's tool call to a `Call` with its action and paths."""
    action = action_of(tool)
    if action == "run":
        return _shell(args)
    if action == "other" and isinstance(args.get("command"), str) and "path" not in args:
        return _shell(args)
    if action in ("edit", "read"):
        verb = args.get("command")
        if verb == "view":  # one tool that reads, writes and replaces
            action = "read"
        changes = tuple(_changes(args)) if action == "edit" else ()
        paths = tuple(dict.fromkeys([*_paths(args), *(change.path for change in changes if change.path)]))[:PATHS]
        return Call(action, action, paths, changes=changes)
    if action in ("search", "list"):
        later = any(isinstance(args.get(key), int) and args[key] for key in _PAGE_KEYS)
        return Call(action, action, _texts(args, _FOLDER_KEYS)[:1], _first(args, _PATTERN_KEYS), later_page=later)
    if action == "web":
        urls = tuple(dict.fromkeys(url for text in _texts(args, _URL_KEYS) for url in urls_of(text)))
        asked = _first(args, ("query", "search_term", "q"))
        local = not urls and not asked and any("://" in text for text in _texts(args, _URL_KEYS))
        return Call("other" if local else "web", "web", (), asked, urls=urls, web=not local)
    if action == "test":
        return Call("test", "test", _paths(args), command=_first(args, COMMAND_KEYS))
    return Call("other", tool[:60])


def _shell(args: Mapping[str, object]) -> Call:
    given = next((args[key] for key in COMMAND_KEYS if args.get(key)), "")
    line = line_of(given) if isinstance(given, (str, list, tuple)) else str(given)
    if line.startswith("apply_patch") or "*** Begin Patch" in line:
        changes = tuple(_of_patch(line))
        if changes:
            return Call("edit", "edit", tuple(dict.fromkeys(change.path for change in changes))[:PATHS], changes=changes)
    known = command_of(line)
    label = known.action if known.action in ("read", "search", "list", "edit", "test") else f"{known.action}:{known.label}"
    paths = known.paths if known.action in ("read", "edit") else known.folders
    return Call(
        known.action, label, paths[:PATHS], known.pattern, known.line, known.urls, (), known.reverted, known.web, removed=known.removed
    )


def _changes(args: Mapping[str, object]) -> Iterator[Change]:
    path = next(iter(_paths(args)), "")
    edits = args.get("edits")
    if isinstance(edits, (list, tuple)):
        for edit in edits[:PATHS]:
            if isinstance(edit, Mapping):
                yield Change(path, _text_or_none(edit, _OLD_KEYS), _first(edit, _NEW_KEYS))
        return
    patch = _first(args, _PATCH_KEYS)
    if patch and ("*** Begin Patch" in patch or "\n@@" in patch):
        yield from _of_patch(patch, path)
        return
    if path:
        cell = next((str(args[key]) for key in _CELL_KEYS if isinstance(args.get(key), (str, int)) and str(args[key])), "")
        inserts = args.get("edit_mode") == "insert" or args.get("is_new_cell") is True
        removes = args.get("edit_mode") == "delete"
        new = "" if removes else _first(args, _NEW_KEYS)
        old = _text_or_none(args, _OLD_KEYS)
        yield Change(path, _text_or_none(args, ("old_source",)) if old is None else old, new, cell if old is None else "", inserts)


def _of_patch(patch: str, default: str = "") -> Iterator[Change]:
    """Yield the changes in a patch, in Codex's form or as a unified diff.

    If the patch names no file, the changes are for the file `default`.
    """
    starts = list(_PATCH_FILE.finditer(patch))
    if not starts and default:
        yield Change(default, *_lines_of(patch))
    for i, start in enumerate(starts):
        end = starts[i + 1].start() if i + 1 < len(starts) else len(patch)
        yield Change(start["path"].strip(), *_lines_of(patch[start.end() : end]))


def _lines_of(hunk: str) -> tuple[str, str]:
    lines = hunk.split("\n")
    old = [line[1:] for line in lines if line.startswith("-") and not line.startswith("---")]
    new = [line[1:] for line in lines if line.startswith("+") and not line.startswith("+++")]
    return "\n".join(old), "\n".join(new)


def changes_of_diff(diff: str) -> tuple[Change, ...]:
    """Return each replacement of text in a unified diff, with the file's path."""
    return tuple(_of_patch(diff))


def _paths(args: Mapping[str, Any]) -> tuple[str, ...]:
    found = [args[key] for key in _PATH_KEYS if isinstance(args.get(key), str) and args[key]][:1]
    for key in _MANY_KEYS:
        many = args.get(key)
        if isinstance(many, (list, tuple)):
            found += [one for one in many if isinstance(one, str)]
            found += [one["path"] for one in many if isinstance(one, Mapping) and isinstance(one.get("path"), str)]
    return tuple(found[:PATHS])


def _texts(args: Mapping[str, object], keys: tuple[str, ...]) -> tuple[str, ...]:
    found: list[str] = []
    for key in keys:
        value = args.get(key)
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [one for one in value if isinstance(one, str)]
    return tuple(found)


def _first(args: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((args[key] for key in keys if isinstance(args.get(key), str) and args[key]), "")


def _text_or_none(args: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((args[key] for key in keys if isinstance(args.get(key), str)), None)
