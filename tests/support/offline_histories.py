"""Random histories of machines that are mostly offline, checked against what their people said.

The machines are real: index, journal, sidecar and PostgreSQL. Lines break before and after the database took an operation, and processes
end between journal and sidecar. The checker knows what every person saw when deciding, and nothing of how operations are joined.
"""

from __future__ import annotations

import random
import uuid
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from graphmem.errors import SharingError
from graphmem.memory.texts.types import LIVE_STATUSES
from graphmem.sharing.organisation import OrganisationDesk
from graphmem.sharing.postgres import SharedLog
from machines import KEY, Machine

TOGETHER = 0.7  # share of the histories that begin with a memory that all know
STEPS = 12
SYNCS = 0.25  # share of the steps that are exchanges
BROKEN = 0.3  # share of the exchanges that break somewhere


class BrokenLineError(Exception):
    """The line or the process ended here."""


class FlakyLog(SharedLog):
    """A connection that breaks when it is told to."""

    breaks = ""

    def push(self, ops):
        if self.breaks == "before push":
            raise BrokenLineError
        found = super().push(ops)
        if self.breaks == "after push" and ops:
            raise BrokenLineError
        return found

    def pull(self, after):
        found = super().pull(after)
        if self.breaks == "in pull" and found.ops:
            raise BrokenLineError
        return found


@dataclass
class Told:
    """Statements and decisions of the people of one history."""

    mine: list[str] = field(default_factory=list)  # memories of this history
    texts: set[str] = field(default_factory=set)  # every text that somebody wrote
    ended: set[str] = field(default_factory=set)  # texts that somebody who saw them replaced or forgot
    titles: dict[str, set[str]] = field(default_factory=dict)  # memory -> titles that somebody chose
    replaced: set[str] = field(default_factory=set)  # titles that somebody who saw them replaced
    uses: dict[str, int] = field(default_factory=dict)
    tags: dict[str, set[str]] = field(default_factory=dict)
    untagged: set[str] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)  # memories that somebody forgot
    operations: int = 0
    disagreements: int = 0


def logins(url, people):
    """Found an organisation; return an address of each person. All are curators, so no rule is in their way."""
    mark = uuid.uuid4().hex[:8]
    with OrganisationDesk(url, new=True) as desk:
        desk.found()
        invited = {one: f"{one.lower()}_{mark}" for one in people}
        return {one: desk.invite(login, one, team="", project=KEY, level="curate", admin=False).address for one, login in invited.items()}


class Histories:
    """Runs histories on the same machines, one after the other or several at a time."""

    def __init__(self, folder, url, seed, people=("Ann", "Ben", "Cem"), *, organised=False):
        self.random = random.Random(seed)
        addresses = logins(url, people) if organised else dict.fromkeys(people, url)
        self.machines = [Machine(folder / name, name, addresses[name]) for name in people]
        for machine in self.machines:
            machine.clock.advance(timedelta(minutes=self.random.randint(0, 5_000)))

    def close(self):
        for machine in self.machines:
            machine.close()

    def run(self, together=1):
        """Some histories, each with memories of its own; returns what was said in each, and a sentence for all that is wrong afterwards.

        Histories that run together have the same exchanges, at the same steps. Each chooses its machines and acts for itself.
        """
        histories = [Told() for _ in range(together)]
        known = [told for told in histories if self.random.random() < TOGETHER]
        for told in known:
            self.act(self.random.choice(self.machines), told)
        for machine in [*self.machines, *self.machines] if known else []:
            self.sync(machine)
        for _ in range(STEPS):
            exchanging = self.random.random() < SYNCS
            for told in histories:
                told.operations += 1
                if not exchanging:
                    machine = self.random.choice(self.machines)
                    machine.clock.advance(timedelta(minutes=self.random.randint(1, 600)) / together)
                    self.act(machine, told)
            if exchanging:
                machine = self.random.choice(self.machines)
                machine.clock.advance(timedelta(minutes=self.random.randint(1, 600)))
                self.exchange(machine)
        for _ in range(2 * len(self.machines)):  # all are online again
            for machine in self.machines:
                self.sync(machine)
        return histories, self.wrong(histories)

    # ---- steps

    def word(self):
        return "".join(self.random.choices("bcdfghjklmnpqrstvwxz", k=9))

    def sentence(self):
        return " ".join(self.word() for _ in range(6)).capitalize() + "."

    def visible(self, machine, mine):
        """The live memories of a history on a machine: its own, and those that its concurrent texts became."""
        index = machine.book.index()
        family = {*mine, *(link.src for one in mine for link in index.relates(one))}
        rows = [row for one in sorted(family) if (row := index.row(one)) is not None]
        return [row for row in rows if machine.shares(row) and row.status in LIVE_STATUSES]

    def act(self, machine, told):
        rows = self.visible(machine, told.mine)
        if not rows or self.random.random() < 0.15:
            text = self.sentence()
            info = machine.gm.remember(text, source="user_taught", tags=[self.word()]).memory
            told.texts.add(text)
            told.tags[info.id] = set(info.tags)
            told.mine.append(info.id)
            return
        row = self.random.choice(rows)
        what = self.random.choices(("text", "title", "use", "tag", "untag", "forget", "erase", "resolve"), (6, 4, 4, 2, 2, 2, 1, 2))[0]
        if what == "text":
            text = self.sentence()
            told.replaced |= self.titles_seen(machine, row)
            machine.gm.update_memory(row.id, content=text)
            told.ended.add(row.content)
            told.texts.add(text)
        elif what == "title":
            title = self.word()
            told.replaced |= self.titles_seen(machine, row)
            machine.gm.update_memory(row.id, title=title)
            told.titles.setdefault(row.id, set()).add(title)
        elif what == "use":
            machine.gm.note_use([row.id])
            told.uses[row.id] = told.uses.get(row.id, 0) + 1
        elif what == "tag":
            tag = self.word()
            machine.gm.update_memory(row.id, tags=[*row.tags, tag])
            told.tags.setdefault(row.id, set()).add(tag)
        elif what == "untag" and row.tags:
            machine.gm.update_memory(row.id, tags=list(row.tags[1:]))
            told.untagged.add((row.id, row.tags[0]))
        elif what in ("forget", "erase"):
            machine.gm.forget(row.id, hard=what == "erase")
            told.ended.add(row.content)
            told.erased.add(row.id)
        elif what == "resolve":
            index = machine.book.index()
            pairs = [one for one in index.relates(row.id) if one.kind == "conflicts_with"]
            others = [index.row(one.dst if one.src == row.id else one.src) for one in pairs]
            others = [one for one in others if one is not None and one.status in LIVE_STATUSES]
            if others:
                machine.gm.resolve_conflict(row.id, others[0].id)
                told.ended.add(others[0].content)
                told.erased.add(others[0].id)

    def titles_seen(self, machine, row):
        listed = [one for one in machine.exchange.disagreements() if one.id == row.id and one.field == "title"]
        return {row.title} | {side.value for one in listed for side in one.sides}

    def exchange(self, machine):
        """An exchange, which may break; a process that ended is started again."""
        if self.random.random() > BROKEN:
            self.sync(machine)
            return
        how = self.random.choice(("before push", "after push", "in pull", "after journal", "before journal"))
        try:
            with ExitStack() as stack:
                log = stack.enter_context(FlakyLog(machine.url, KEY, "shop"))
                log.breaks = how
                if how.endswith("journal"):
                    stack.enter_context(ending(machine, after=how.startswith("after")))
                machine.exchange.run(log)
        except BrokenLineError:
            if how.endswith("journal"):
                machine.close()
                machine.open()
        except SharingError as error:
            raise AssertionError(error.message) from error

    def sync(self, machine):
        return machine.sync()

    # ---- checks

    def wrong(self, histories):
        found = []
        everywhere = [machine.rows() for machine in self.machines]
        for name in ("content", "title", "status", "type", "used_count", "disputed", "user_verified", "confidence", "importance"):
            values = [{one: getattr(row, name) for one, row in rows.items()} for rows in everywhere]
            for one in {key for each in values for key in each}:
                if len({rows.get(one) for rows in values}) > 1:
                    found.append(f"the machines differ in {name} of {one}: {[rows.get(one) for rows in values]}")
        if len({tuple(sorted((one, *sorted(row.tags)) for one, row in rows.items())) for rows in everywhere}) > 1:
            found.append("the machines differ in tags")
        live = [{row.content for row in rows.values() if row.status in LIVE_STATUSES} for rows in everywhere]
        listed = {(one.id, side.value) for one in self.machines[0].exchange.disagreements() for side in one.sides}
        for told in histories:
            for machine, texts in zip(self.machines, live, strict=True):
                found += [f"{machine.person} lost {text!r}" for text in sorted(told.texts - told.ended - texts)]
            told.disagreements = len([one for one in listed if one[0] in told.mine])
            found += self.wrong_in(told, everywhere[0], listed)
        return found

    def wrong_in(self, told, rows, listed):
        found = []
        for one in sorted({*told.mine, *told.titles}):
            row = rows.get(one)
            if row is None or row.status not in LIVE_STATUSES or one in told.erased:
                continue
            for title in told.titles.get(one, set()) - told.replaced:
                if row.title != title and (one, title) not in listed:
                    found.append(f"the title {title!r} of {one} was overwritten by {row.title!r}")
            if one in told.mine and row.used_count != told.uses.get(one, 0):
                found.append(f"{one} was used {told.uses.get(one, 0)} times and counts {row.used_count}")
            if one in told.mine and set(row.tags) != told.tags[one] - {tag for key, tag in told.untagged if key == one}:
                found.append(f"{one} has the tags {row.tags}, not {told.tags[one]}")
        return found


@contextmanager
def ending(machine, *, after):
    """Ends the process at the journal's next write."""
    commit = machine.book.commit

    def ended(*given, **more):
        if after:
            commit(*given, **more)
        raise BrokenLineError

    machine.book.commit = ended
    try:
        yield
    finally:
        del machine.book.commit
