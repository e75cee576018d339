"""Machines of several people that share the memories of one project."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from graphmem import GraphMem
from graphmem.memory.reading.clock import ManualClock
from graphmem.settings import Settings
from graphmem.sharing.exchange import Exchange
from graphmem.sharing.postgres import SharedLog
from graphmem.sharing.sidecar import FILE, Sidecar

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
KEY = "git:0123456789abcdef0123456789abcdef01234567"


class Machine:
    """One person's copy of a project: a real index, journal and sidecar."""

    def __init__(self, folder, person, url):
        self.folder, self.person, self.url = folder, person, url
        self.clock = ManualClock(START)
        self.open()

    def open(self):
        self.gm = GraphMem.open(self.folder, settings=Settings(embedder="none"))
        self.book = self.gm.parts.book
        self.book.clock = self.clock
        self.side = Sidecar(self.folder / FILE)
        self.exchange = Exchange(self.book, self.side, self.person)

    def close(self):
        self.side.close()
        self.gm.close()

    def sync(self, **options):
        with SharedLog(self.url, KEY, "shop") as log:
            return self.exchange.run(log, **options)

    def say(self, text, **extras):
        self.clock.advance(timedelta(seconds=1))
        return self.gm.remember(text, source="user_taught", **extras).memory

    def rows(self, shared=True):
        return {row.id: row for row in self.book.index().all_rows() if not shared or self.shares(row)}

    @staticmethod
    def shares(row):
        return row.visibility != "personal" and row.scope != "user"

    def contents(self):
        return sorted(row.content for row in self.rows().values() if row.status in ("candidate", "confirmed", "pinned"))
