"""Decide whether a tool's output is local text or external text.

Text of the project and its people is local; all other text is external. `local` and `programs` beside this file list the known local
sources. A call counts as a source of external text unless its tool, its command line and its files show that it is local.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from graphmem.observe.commands import local
from graphmem.observe.commands.command_lines import NAMED, external_folder, is_external_package, looked_at, source_name
from graphmem.observe.commands.shell import line_of, urls_of
from graphmem.observe.commands.tools import COMMAND_KEYS, FOREIGN, OWN_SERVER, PLAIN, TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphmem.observe.commands.tools import Call

WRITTEN: Final = 500  # files in temporary folders that the session is known to have written

_FETCHES: Final = re.compile(r"fetch|pull|clone|browse|url|web|remote|download|install", re.IGNORECASE)


class Judge:
    """Finds out which tool calls of one session read external text.

    Not thread-safe. Each session has its own judge.

    Args:
        within: maps a file name as an agent writes it to a path in the project, or to "" for a file outside.
        roots: the known folders of the project.
    """

    def __init__(self, within: Callable[[str], str], roots: Callable[[], Sequence[str]]) -> None:
        self._within = within
        self._roots = roots
        self._written: dict[str, None] = {}

    def of_call(self, tool: str, args: Mapping[str, Any], call: Call, listed: Iterable[str] = ()) -> str:
        """Return the source of the external text that a tool call reads, or "".

        A source is a page, tool, command or file. The result is "" if the call reads only local text.

        Args:
            tool: the agent's name of the tool.
            args: arguments as the agent gave them.
            call: the interpretation of tool and arguments.
            listed: names of files in the results of a search.
        """
        plain = PLAIN.sub("", tool).lower()
        foreign = FOREIGN.match(tool)
        if foreign is not None:
            server = foreign["server"].lower()
            if server == OWN_SERVER:
                return ""
            if server not in local.SERVERS:
                return source_name("tool", tool)
            plain = PLAIN.sub("", foreign["tool"]).lower()
        if call.web and call.action == "web":
            return call.urls[0][:NAMED] if call.urls else source_name("tool", tool)
        action = TOOLS.get(plain, "")
        if foreign is not None and not action:  # a server of this machine: local, except tools that fetch or run commands
            given = next((args[key] for key in COMMAND_KEYS if isinstance(args.get(key), str)), "")
            return source_name("tool", tool) if _FETCHES.search(foreign["tool"]) else self.of_command(given) if given else ""
        if action in ("run", "test"):
            given = next((args[key] for key in COMMAND_KEYS if args.get(key)), "")
            return self.of_command(line_of(given) if isinstance(given, (str, list, tuple)) else str(given))
        if action in ("read", "edit", "list", "search"):
            shown = call.paths if action != "list" else [path for path in call.paths if is_external_package(path)]
            found = next((why for path in (*shown, *(listed if action == "search" else ())) if (why := self.of_path(path))), "")
            if action == "edit" and not found:
                self._note(call.paths)
            return found
        return "" if action == "web" or plain in local.TOOLS else source_name("tool", tool or "without a name")

    def of_command(self, line: str) -> str:
        """Return the source of external text that a command reads; "" if local."""
        looked = looked_at(line)
        if looked.stranger:
            return looked.stranger
        own = looked.written
        is_asked = [path for path in looked.entered if looked.reads or not f"{path}/".startswith(local.TEMPORARY)]
        outside = next((why for path in is_asked if (why := self.of_folder(path))), "")
        found = outside or next(
            (why for path in looked.reads if path not in own and (why := self.of_path(path, is_moved=bool(looked.entered)))), ""
        )
        if not found:
            self._note(looked.written)
        return found

    def of_folder(self, path: str) -> str:
        """Return the name of a folder if its files are external text, else "".

        `path` is a folder to which a command changes. The result is "" for a folder of the project.
        """
        plain = path.rstrip("/") or "/"
        if plain[0] not in "/~":
            return "" if external_folder(plain) is None else source_name("folder", path)
        return "" if plain in self._roots() else self.of_path(plain)

    def of_path(self, path: str, *, is_moved: bool = False) -> str:
        """Return the name of a file or address if it is external, else "".

        Files outside the project and files of external packages, such as in `node_modules`, are external. System files and files that the
        session wrote itself are local.

        Args:
            path: the path as the agent writes it.
            is_moved: whether the command first changed to another folder of the project.
        """
        plain = path.strip().replace("\\", "/").removeprefix("file://")
        if "://" in plain:
            return plain[:NAMED] if urls_of(plain) or not plain.startswith("http") else ""
        if not plain or plain == "-":
            return ""
        inside = self._within(plain)
        if inside or plain in (".", "./") or plain.rstrip("/") in self._roots():
            return "" if external_folder(inside) is None else source_name("file", inside)
        if plain.startswith((*local.SYSTEM, *local.OWN_OUTPUT)) or plain in self._written:
            return ""
        if any(f"/{own}" in plain for own in local.OWN_FILES):
            return ""
        if external_folder(plain) is not None:
            return source_name("file", plain)
        if plain[0] in "/~" or plain[1:3] == ":/":
            return source_name("file", plain) if self._roots() or plain.startswith((*local.TEMPORARY, "~")) else ""
        return "" if is_moved else source_name("file", plain)

    def _note(self, paths: Iterable[str]) -> None:
        for path in paths:
            if path.startswith(local.TEMPORARY) and len(self._written) < WRITTEN:
                self._written[path] = None
