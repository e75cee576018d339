"""Read and write files for people, such as rule files and MEMORY.md.

Rule files contain instructions for agents. Memories are imported from other tools' files and exported for people.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from graphmem.answers import RuleSet
from graphmem.errors import BadInputError, EncryptionError
from graphmem.knowledge import is_held
from graphmem.memory.files import exchange, importers, markdown
from graphmem.memory.files.obeyed import obeyed
from graphmem.memory.files.rules import rules as read_rules
from graphmem.memory.files.sync import listed, sync
from graphmem.memory.files.user_book import USER
from graphmem.memory.repository.write import FILE
from graphmem.memory.texts.types import LIVE_STATUSES
from graphmem.runtime.files.home import home
from graphmem.runtime.files.inside import inside
from graphmem.runtime.files.vault import MARK, opened_text, read_mark
from graphmem.runtime.process.limits import unless_refused
from graphmem.runtime.texts.naming import in_project
from graphmem.runtime.texts.private_passages import without_private
from graphmem.runtime.texts.safe_text import inert_json, inert_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graphmem.answers import ImportAnswer, SyncAnswer
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.settings import Settings

MEMORY_MD: Final = "MEMORY.md"
MARKDOWN: Final = (".md", ".mdc", ".markdown")
MAX_IMPORT_BYTES: Final = exchange.MAX_BYTES
EXPORTS: Final = ("json", "markdown", "claude")


@dataclass(eq=False, repr=False)
class PeopleFiles:
    """Imports memories from people's files, and exports them to files.

    The class also reads rule files, in which people write instructions for agents.
    """

    book: MemoryRepository
    root: Callable[[], Path | None]  # the project's root
    data_dir: Path
    settings: Settings

    def export_memories(self, format: str = "json", personal: bool = True) -> str:  # noqa: A002 - the word of the domain
        """Return all memories as one string, in a given format.

        Args:
            format: json (lossless; `import_memories` reads it back), markdown (for people, importable), claude (lines of plain text).
                markdown and claude omit memories that wait for a person's review.
            personal: include personal memories; claude never includes them.

        Raises:
            BadInputError: the format is unknown.
        """
        if format == "json":
            return inert_json(json.dumps(exchange.exported(self.book, personal=personal), ensure_ascii=False, indent=1)) + "\n"
        self.book.flush()
        if format == "markdown":
            describer = self.book.describer()
            live = [
                row
                for row in self.book.index().all_rows()
                if row.status in LIVE_STATUSES and row.scope != USER and not is_held(row) and (personal or row.visibility != "personal")
            ]
            return inert_lines(markdown.markdown([describer.info(row) for row in live], self.book.project()))
        if format == "claude":
            return inert_lines(markdown.claude_md(listed(self.book), self.book.project()))
        raise BadInputError(f"unknown export format {format!r}; use one of {', '.join(EXPORTS)}", argument="format", value=format)

    def import_memories(self, content: str, path: str = "", format: str = "", actor: str = "") -> ImportAnswer:  # noqa: A002
        """Import memories from an export or from a file of another tool.

        Args:
            content: content of the file.
            path: name of the file, which determines the format; absolute or from the project's root; "" when the text comes from no file.
            format: one of `memory.files.importers.NAMES`; needed only if `path` does not determine the format.
            actor: name of the caller, for the audit log.

        Raises:
            BadInputError, SecretError: the file is unreadable, or contains text that must not become a memory; nothing is kept.
        """
        from graphmem.answers import ImportAnswer
        from graphmem.security.private_files import kept_out

        content = opened_text(content.strip()) if content.startswith(MARK) else content
        name = format or importers.format_of(path, content)
        if name == importers.JSON:  # our own export: the items are already memories
            return exchange.imported(self.book, content, actor)
        if reason := kept_out(self.root(), path):
            raise BadInputError(
                f"{PurePath(path).name} cannot be imported, because {reason}; to import its text anyway, pass "
                "only the text, without the path",
                argument="path",
                path=path,
                reason=reason,
            )
        reading = importers.read(without_private(content), name)
        origin = {"session": f"{FILE}{self._named(path)}"} if path else {}
        answer = self.book.remember_many([origin | one for one in reading.items], source="imported", skip_invalid=True, actor=actor)
        notes = [f"item {one.index + 1}: {one.message}" for one in answer.refused]
        for why, lines in (("too short to say anything", reading.short), ("only naming another file", reading.references)):
            if lines:
                notes.append(f"left out, {why}: line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}")
        counts = dict(answer.counts) | ({"refused": len(answer.refused)} if answer.refused else {})
        return ImportAnswer(name, counts, [one.id for one in answer.results if one.outcome != "duplicate"], notes)

    def _named(self, path: str) -> str:
        """Return the path of a file from the project's root.

        For a file outside the root, `path` itself is returned.
        """
        root = self.root()
        given = Path(path)
        if root is None or not given.is_absolute():
            return given.as_posix()
        return given.relative_to(root).as_posix() if given.is_relative_to(root) else given.as_posix()

    def sync_file(
        self,
        path: str | Path | None = None,
        dry_run: bool = False,
        actor: str = "",
        *,
        personal: bool = False,
        remote: bool = False,
    ) -> SyncAnswer:
        """Synchronise MEMORY.md and the memories in both directions.

        Args:
            path: the Markdown file, from the project's root; None for MEMORY.md.
            dry_run: report the changes, and write nothing.
            actor: name of the caller, for the audit log.
            personal: also write personal memories to the file.
            remote: whether the call came over the network; then only MEMORY.md is allowed.

        Raises:
            BadInputError: the project's root is unknown; or the file is unreadable, is outside the project, is not a Markdown file, is not
                allowed by the settings, or has instructions for agents.
            EncryptionError: the memories are encrypted, and `dry_run` is false.
        """
        if read_mark(self.data_dir) is not None and not dry_run:
            raise EncryptionError(
                "the memories are encrypted, and a synced file would contain them unencrypted; use `graphmem export --memories "
                "markdown`, or run `graphmem memory decrypt` first"
            )
        root = self.root()
        if path is None and root is None:
            raise BadInputError(
                "the root directory of the project is not known yet; give the path of the Markdown file to sync, or run `graphmem "
                "index` first",
                argument="path",
            )
        target = (root / (path or MEMORY_MD)) if root is not None else Path(path or MEMORY_MD)
        if target.suffix.lower() not in MARKDOWN or ".git" in target.parts:  # a remote caller must not write a file that is executed
            raise BadInputError(
                f"{path} is not a Markdown file of the project; give a file that ends with {' or '.join(MARKDOWN)}",
                argument="path",
                path=str(path),
            )
        if root is not None and inside(root, target) is None:
            raise BadInputError(f"{path} is not a path inside the project; give a file in {root}", argument="path", path=str(path))
        self._expect_ours(target, root, personal=personal, remote=remote)
        above = next((one for one in target.parents if one.exists()), target.anchor)
        if target.is_dir():
            raise BadInputError(f"{path} is a directory; give the path of a Markdown file", argument="path", path=str(path))
        if not Path(above).is_dir():
            raise BadInputError(
                f"{path} lies below {above}, which is not a directory; choose a file in a directory", argument="path", path=str(path)
            )
        try:
            return sync(self.book, target, self.data_dir, actor, dry_run, personal=personal)
        except OSError as error:
            unless_refused(error, f"syncing {target.name}", target)
            raise BadInputError(
                f"the synced file {path} cannot be read or written ({error.strerror or error}); correct the permissions of the file, "
                "then sync again",
                argument="path",
                path=str(path),
            ) from error

    def _expect_ours(self, target: Path, root: Path | None, *, personal: bool, remote: bool) -> None:
        """Refuse to write memories into a file that must not contain any.

        An example is a file with instructions for agents. `target` is the file, and `root` the project's root. `personal` tells whether
        personal memories are written, and `remote` whether the request comes from another machine.

        Raises:
            BadInputError: the file is refused; the message names the setting that would allow it, if one exists.
        """
        base = root.resolve() if root is not None else Path.cwd()
        named = PurePath(os.path.relpath(os.path.normpath(target.absolute()), os.path.normpath(root or base)))
        led_to = PurePath(os.path.relpath(target.resolve(), base))
        facts = {"argument": "path", "path": named.as_posix()}
        if remote and (personal or named.as_posix() != MEMORY_MD):
            raise BadInputError(
                f"a remote caller can sync only {MEMORY_MD}, and only without personal memories; for other files stop the server and "
                "run `graphmem sync-file` in the project",
                **facts,
            )
        for one in (named, led_to):  # a directory may be a symbolic link
            if reason := obeyed(one.parts if root is not None else (one.name,)):
                raise BadInputError(f"{named} cannot be synced with the memories: {reason}; sync another file", **facts)
        allowed = {PurePath(one.strip()).as_posix() for one in self.settings.sync_files.split(",") if one.strip()}
        if (named.as_posix() if root is not None else named.name) not in {MEMORY_MD, *allowed}:
            raise BadInputError(
                f"{named} may not be synced with the memories, because only "
                f"{', '.join([MEMORY_MD, *sorted(allowed)])} may; add {named} to the setting sync_files",
                **facts,
            )

    def rules(self, files: Sequence[str] | None = None) -> RuleSet:
        root = self.root()
        own = None if files is None else [in_project(one, root) for one in files]
        return RuleSet(*read_rules(root, home(), own))
