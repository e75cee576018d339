"""Sharing of a project's memories with a team."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers.sharing import SharingStatus
from graphmem.errors import GraphMemError, SharingError
from graphmem.runtime.files.sqlite_file import private
from graphmem.runtime.network.server_address import shown
from graphmem.security.access import caller
from graphmem.sharing.exchange import Exchange
from graphmem.sharing.identity import checked_key, person_of, project_key
from graphmem.sharing.news import Team, authors_of, news
from graphmem.sharing.postgres import SharedLog
from graphmem.sharing.sidecar import FILE, Sidecar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from graphmem.answers.organisation import TeamNews
    from graphmem.answers.sharing import SharingAnswer
    from graphmem.memory.repository.repository import MemoryRepository
    from graphmem.settings import Settings

KEY: Final = "project.key"  # file in the index directory with the project's key


@dataclass(eq=False, repr=False)
class Sharing:
    """Exchanges memories with the team's database; reports on the exchange."""

    book: MemoryRepository
    root: Callable[[], Path | None]
    data_dir: Path
    settings: Settings
    _turn: threading.Lock = field(default_factory=threading.Lock, init=False)
    _due: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._side = Sidecar(self.data_dir / FILE)

    def sync_memories(self, url: str = "", key: str = "") -> SharingAnswer:
        return self._exchanged(url or self.settings.sync_url, key, unasked=False)

    def sync_when_due(self) -> str:
        """Exchange memories with the team, if sharing is on and it is time.

        The maintenance of a server calls the method. Returns a short report, or "" if nothing happened.
        """
        if not self.settings.sync_url or not self.settings.sync_seconds or time.monotonic() < self._due:
            return ""
        self._due = time.monotonic() + self.settings.sync_seconds
        try:
            answer = self._exchanged(self.settings.sync_url, "", unasked=True)
        except SharingError as error:  # a laptop may be offline for weeks; the status and `doctor` show the reason
            return error.message if error.reason != "unreachable" else ""
        return f"{answer.pushed} sent, {answer.pulled} received" if answer.pushed or answer.pulled else ""

    def sharing_status(self) -> SharingStatus:
        exists = self._side.exists
        return SharingStatus(
            address=shown(self.settings.sync_url),
            project=self._kept_key(),
            person=self._exchange.person,
            last=self._side.get("last") if exists else "",
            waiting=self._side.waiting() if exists else 0,
            error=self._side.get("error") if exists else "",
            disagreements=self._exchange.disagreements() if exists else [],
        )

    def decide_disagreement(self, id: str, field: str, side: int) -> SharingStatus:  # noqa: A002
        row = self.book.row(id)
        with self._turn:
            if not self._side.exists:
                raise SharingError(
                    "this project has not exchanged memories with a team's database yet; run `graphmem sync` first", reason="unknown"
                )
            self._exchange.decide(row, field, side)
        return self.sharing_status()

    def news(self, days: int, limit: int, important: Sequence[str]) -> TeamNews:
        """Return the team's news of the last `days`; see `team_news`.

        At most `limit` recent memories are listed. `important` has the ids of memories that a newcomer should read.
        """
        if self._side.exists:
            return news(self.book, Team(authors_of(self._side)), self._exchange.disagreements(), days, limit, important, shared=True)
        person = caller().person
        team = Team(person.authors(), person.colleagues()) if person is not None else Team({})
        return news(self.book, team, [], days, limit, important, shared=False)

    def known_key(self) -> str:
        """Return the key of this project: its name in the team's database.

        Raises:
            SharingError: the project was not shared yet.
        """
        if not (kept := self._kept_key()):
            raise SharingError(
                "this project has not exchanged memories with a team's database yet; run `graphmem sync` first", reason="unknown"
            )
        return kept

    def facts(self) -> dict[str, Any]:
        """Return how a project's memories are shared, for the command `doctor`.

        The result is empty if nothing is shared.
        """
        if not self._side.exists and not self.settings.sync_url:
            return {}
        status = self.sharing_status()
        found = {name: getattr(status, name) for name in ("address", "project", "person", "last", "waiting", "error")}
        return found | {"disagreements": len(status.disagreements)}

    def forget_all(self) -> list[str]:
        """Delete the copy of the team's shared memories on this machine.

        Changes that were not sent to the team yet are lost. Returns the names of the deleted files.
        """
        with self._turn:
            return self._side.delete()

    def close(self) -> None:
        """Close the file of shared memories. Idempotent."""
        self._side.close()

    # ---- inside

    @property
    def _exchange(self) -> Exchange:
        known = self._side.get("person") if self._side.exists else ""
        return Exchange(self.book, self._side, known or person_of(self.root(), self.settings.sync_person))

    def _exchanged(self, url: str, key: str, *, unasked: bool) -> SharingAnswer:
        if not url:
            raise SharingError(
                "the address of the team's database is not known; set GRAPHMEM_SYNC_URL=postgresql://… or the setting sync_url",
                reason="address",
            )
        with self._turn:
            project = self._key(key)
            try:
                with SharedLog(url, project, self.book.project(), self.settings.sync_team) as log:
                    return self._exchange.run(log, project, unasked=unasked)
            except GraphMemError as error:
                self._exchange.collect()
                self._side.put({"error": error.message})
                raise

    def _key(self, given: str) -> str:
        """Return the project's key (its name in the team's database).

        The first call chooses the key: `given`, or else one derived from the repository. Later calls return the same key.

        Raises:
            SharingError: `given` is another key than the one in use.
        """
        kept = self._kept_key()
        if given and kept and checked_key(given) != kept:
            raise SharingError(
                f"this project is shared with the team under the project key {kept}; to share it under another key, delete "
                f"{self.data_dir / KEY} and {self.data_dir / FILE}",
                reason="key",
            )
        if not kept:
            kept = choose_key(self.data_dir, self.root() or self._beside(), given)
        return kept

    def _kept_key(self) -> str:
        return kept_key(self.data_dir)

    def _beside(self) -> Path | None:
        """Return the directory that contains the index directory `.graphmem`.

        Before the first index run, that directory counts as the project's root. If the index directory has another name, the result is
        None.
        """
        return self.data_dir.parent if self.data_dir.name == ".graphmem" else None


def kept_key(data_dir: Path) -> str:
    """Return the project's key in the team's database; "" if not chosen yet."""
    try:
        return (data_dir / KEY).read_text(encoding="utf-8").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return ""


def choose_key(data_dir: Path, root: Path | None, given: str = "") -> str:
    """Choose and store the project's key in the team's database; return it.

    The key is the project's name in that database. If `given` is not "", it becomes the key. Otherwise the key is derived from the
    repository at `root`. Later exchanges use the same key.
    """
    key = checked_key(given) if given else project_key(root)
    with open(data_dir / KEY, "w", encoding="utf-8", opener=private) as file:
        file.write(key + "\n")
        file.flush()
        os.fsync(file.fileno())
    return key
