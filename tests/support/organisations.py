"""An organisation in PostgreSQL with random people, teams, projects and memories, and the rules for them in Python.

`leaks` compares what each person reads with the rules, `forgeries` tries what nobody may do. `WALLS` switches each protection off.
"""

from __future__ import annotations

import contextlib
import random
import uuid
from collections import defaultdict
from dataclasses import dataclass, field

import psycopg

from graphmem.sharing.organisation import OrganisationDesk
from graphmem.sharing.wire import Op, Write, encoded

READ, WRITE, CURATE = 1, 2, 3
VISIBILITIES = ("personal", "team", "project", "organization")
AT = "2026-01-01T00:00:00+00:00"


def without_rule(rule, other):
    """Return the statement that replaces a rule of the trigger."""
    quoted = [text.replace("'", "''") for text in (rule, other)]
    source = "pg_get_functiondef('graphmem.take_op'::regproc)"
    return f"DO $do$ BEGIN ASSERT {source} LIKE '%{quoted[0]}%'; EXECUTE replace({source}, '{quoted[0]}', '{quoted[1]}'); END $do$"


# Protection -> statements that switch it off. Some rules have two walls; then both are switched off.
WALLS = {
    "rows of memories": "ALTER TABLE graphmem.memory DISABLE ROW LEVEL SECURITY",
    "rows of operations": "ALTER TABLE graphmem.op DISABLE ROW LEVEL SECURITY",
    "rows of comments": "ALTER TABLE graphmem.comment DISABLE ROW LEVEL SECURITY",
    "rows of projects": "ALTER TABLE graphmem.project DISABLE ROW LEVEL SECURITY",
    "rows of the audit": "ALTER TABLE graphmem.audit DISABLE ROW LEVEL SECURITY",
    "rows of exchanges": "ALTER TABLE graphmem.seen DISABLE ROW LEVEL SECURITY",
    "rows of roles": "ALTER TABLE graphmem.access DISABLE ROW LEVEL SECURITY",
    "rows of people": "ALTER TABLE graphmem.person DISABLE ROW LEVEL SECURITY",
    "the author": "GRANT INSERT ON graphmem.op TO PUBLIC; ALTER TABLE graphmem.op DISABLE TRIGGER take_op; "
    "DROP POLICY writes ON graphmem.op; CREATE POLICY writes ON graphmem.op FOR INSERT WITH CHECK (true)",
    "changes of rows": "GRANT UPDATE, DELETE ON graphmem.op, graphmem.memory, graphmem.person TO PUBLIC; "
    "CREATE POLICY changes ON graphmem.op FOR ALL USING (true); CREATE POLICY changes ON graphmem.memory FOR ALL USING (true); "
    "CREATE POLICY changes ON graphmem.person FOR ALL USING (true)",
    "the name": without_rule("NEW.person := shown", "NEW.person := b->>'person'"),
    "quoted words": without_rule("= b #> '{set,text,0}'", "IS NOT NULL"),
    "quoted decisions": without_rule("IS DISTINCT FROM 'true'", "IS NULL"),
    "the role in a project": "CREATE OR REPLACE FUNCTION graphmem.my_level(of_project text) RETURNS int LANGUAGE sql AS 'SELECT 4'; "
    "CREATE OR REPLACE FUNCTION graphmem.my_projects(lowest int) RETURNS text[] LANGUAGE sql SECURITY DEFINER AS "
    "'SELECT array_agg(key) FROM graphmem.project'",
    "the owner": "CREATE OR REPLACE FUNCTION graphmem.my_level(of_project text) RETURNS int LANGUAGE sql AS 'SELECT 4'",
    "hidden memories": "CREATE OR REPLACE FUNCTION graphmem.sees(m graphmem.memory) RETURNS boolean LANGUAGE sql AS 'SELECT true'; "
    "DROP POLICY writes ON graphmem.op; CREATE POLICY writes ON graphmem.op FOR INSERT WITH CHECK (true)",
    "comments on hidden memories": "DROP POLICY writes ON graphmem.comment; "
    "CREATE POLICY writes ON graphmem.comment FOR INSERT WITH CHECK (true)",
    "administrators": "CREATE OR REPLACE FUNCTION graphmem.is_admin() RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    "disabled people": "CREATE OR REPLACE FUNCTION graphmem.me() RETURNS int LANGUAGE sql STABLE SECURITY DEFINER AS "
    "'SELECT id FROM graphmem.person WHERE role = session_user'",
}


def memory_op(text="Words of a memory.", memory="", person="somebody else", **parts):
    """Return an operation that makes a memory, in another's name."""
    sets = {"text": Write([text, AT]), **parts.pop("set", {})}
    return Op(str(uuid.uuid4()), "d", 1, person, AT, memory or str(uuid.uuid4()), sets, is_new=True)._replace(**parts)


@dataclass
class Somebody:
    login: str
    name: str
    teams: set[str] = field(default_factory=set)
    levels: dict[str, int] = field(default_factory=dict)
    is_disabled: bool = False


@dataclass
class Known:
    id: str
    project: str
    owner: str
    visibility: str
    team: str
    op: str


class Example:
    """The organisation. The address must be the one of a superuser.

    Args:
        url: of an empty database.
        people, teams, projects: how many.
        memories: how many each person tries to write.
    """

    def __init__(self, url, people=6, teams=3, projects=3, memories=4, seed=1):
        self.random = random.Random(seed)
        self.db = psycopg.connect(url, autocommit=True)
        self.mark = uuid.uuid4().hex[:8]
        self.memories: list[Known] = []
        with OrganisationDesk(url, new=True) as desk:
            desk.found()
            self.teams = [f"team-{n}" for n in range(teams)]
            self.projects = [f"git:{n:04}" for n in range(projects)]
            self.people = [Somebody(f"p{n}_{self.mark}", f"Person {n}") for n in range(people)]
            self.team_levels = {
                (team, one): level for team in self.teams for one in self.projects if (level := self.random.choice((0, 0, 1, 2, 3)))
            }
            with self.db.transaction():
                for one in self.people:
                    self.db.execute("SELECT graphmem.invite(%s, %s, 'x', false)", (one.login, one.name))
                    one.teams = set(self.random.sample(self.teams, self.random.choice((0, 1, 1, 2))))
                    for team in sorted(one.teams):
                        self.db.execute("SELECT graphmem.set_member(%s, %s, 'member')", (team, one.login))
                for team in self.teams:  # a team that nobody joined is not made yet
                    self.db.execute("INSERT INTO graphmem.team (name) VALUES (%s) ON CONFLICT DO NOTHING", (team,))
                for project in self.projects:
                    self.db.execute("INSERT INTO graphmem.project (key, name) VALUES (%s, 'x')", (project,))
                for (team, project), level in self.team_levels.items():
                    self.db.execute("SELECT graphmem.set_role(%s, '', %s, %s)", (project, team, level))
                for one in self.people:
                    for project in self.random.sample(self.projects, min(2, projects)):
                        one.levels[project] = self.random.choice((1, 2, 2, 3))
                        self.db.execute("SELECT graphmem.set_role(%s, %s, '', %s)", (project, one.login, one.levels[project]))
        for one in self.people:
            for _ in range(memories):
                self._write(one)
        self.people[-1].is_disabled = True
        self.db.execute("SELECT graphmem.enable(%s, false)", (self.people[-1].login,))

    def close(self):
        for one in self.people:
            self.db.execute(f"DROP ROLE {one.login}")
        self.db.close()

    def level(self, one, project):
        return max([one.levels.get(project, 0), *(self.team_levels.get((team, project), 0) for team in one.teams)])

    def sees(self, one, known):
        if one.is_disabled:
            return False
        if known.visibility == "organization":
            return True
        inside = self.level(one, known.project) >= READ
        among = known.visibility == "project" or (known.visibility == "team" and known.team in one.teams)
        return inside and (known.owner == one.login or among)

    @contextlib.contextmanager
    def as_(self, one):
        """Ask as one person; what was written stays only outside of a transaction."""
        self.db.execute(f"SET SESSION AUTHORIZATION {one.login}")
        try:
            yield self.db
        finally:
            if self.db.info.transaction_status != psycopg.pq.TransactionStatus.INERROR:
                self.db.execute("RESET SESSION AUTHORIZATION")

    def insert(self, project, op):
        self.db.execute(
            "INSERT INTO graphmem.op (project, id, device, memory, body) VALUES (%s, %s, %s, %s, %s)",
            (project, op.id, op.device, op.memory, encoded(op)),
        )

    # ---- reading

    def leaks(self):
        """Return a sentence for each person and table that has other rows than the rules give."""
        wrong = []
        for one in self.people:
            expected = {known.id for known in self.memories if self.sees(one, known)}
            projects = {project for project in self.projects if not one.is_disabled and self.level(one, project) >= READ}
            with self.as_(one) as db:
                found = {
                    "memory": {row[0] for row in db.execute("SELECT id FROM graphmem.memory")},
                    "op": {row[0] for row in db.execute("SELECT memory FROM graphmem.op")},
                    "comment": {row[0] for row in db.execute("SELECT memory FROM graphmem.comment")},
                    "project": {row[0] for row in db.execute("SELECT key FROM graphmem.project")},
                    "access": {row[0] for row in db.execute("SELECT project FROM graphmem.access")},
                    "audit": {row[0] for row in db.execute("SELECT person FROM graphmem.audit")} - {one.name},
                    "seen": {row[0] for row in db.execute("SELECT person FROM graphmem.seen WHERE person IS DISTINCT FROM graphmem.me()")},
                    "person": set() if not one.is_disabled else {row[0] for row in db.execute("SELECT name FROM graphmem.person")},
                }  # fmt: skip
            should = defaultdict(set) | {"memory": expected, "op": expected, "comment": expected, "project": projects, "access": projects}
            wrong += [
                f"{one.name} reads {len(rows - should[table])} rows too many and {len(should[table] - rows)} too few of {table}"
                for table, rows in found.items()
                if rows != should[table]
            ]
        return wrong

    # ---- what nobody may do

    def forgeries(self):
        """Return the name of each forbidden act that worked."""
        return [name for name, act in self.acts() if self._works(act)]

    def without(self, wall):
        """Return leaks and forgeries with one protection switched off."""
        try:
            with self.db.transaction():
                self.db.execute(WALLS[wall])
                found = (self.leaks(), self.forgeries())
                raise psycopg.Rollback
        finally:
            self.db.execute("RESET SESSION AUTHORIZATION")
        return found

    def _works(self, act):
        """Try an act that returns whether it did harm; nothing of it stays."""
        try:
            with self.db.transaction():
                harm = act()
                self.db.execute("RESET SESSION AUTHORIZATION")
                raise UndoneError(harm)
        except UndoneError as done:
            return done.harm
        except psycopg.Error:
            return False
        finally:
            self.db.execute("RESET SESSION AUTHORIZATION")

    def acts(self):
        writer, known = next(
            (one, known)
            for known in self.memories
            for one in self.people
            if self.sees(one, known) and self.level(one, known.project) == WRITE and known.owner != one.login
        )
        reader, read_only = next(
            (one, project) for one in self.people for project in self.projects if not one.is_disabled and self.level(one, project) < WRITE
        )
        blind, hidden = next(
            (one, known)
            for known in self.memories
            for one in self.people
            if not one.is_disabled and not self.sees(one, known) and self.level(one, known.project) >= WRITE
        )
        out = self.people[-1]

        def named(person, op):
            def act():
                with self.as_(person):
                    self.insert(known.project, op)
                return self.db.execute("SELECT person FROM graphmem.op WHERE id = %s", (op.id,)).fetchone()[0] != person.name

            return act

        def runs(person, statement, *values):
            def act():
                with self.as_(person) as db:
                    return db.execute(statement, values).rowcount != 0

            return act

        def inserts(person, project, op):
            def act():
                with self.as_(person):
                    self.insert(project, op)
                return True

            return act

        owner = next(one for one in self.people if one.login == known.owner)
        yield "write in another's name", named(writer, memory_op(person=owner.name))
        yield (
            "quote words that another did not write",
            named(writer, memory_op(person=owner.name, of=known.op, set={"text": Write(["Other words.", AT], auto=True)})),
        )
        yield "quote and decide", named(writer, memory_op(person=owner.name, of=known.op, set={"type": Write("decision")}))
        columns = "INSERT INTO graphmem.op (project, seq, id, device, person, memory, body, author) "
        columns += "SELECT %s, 99999, gen_random_uuid(), 'd', %s, %s, %s, id"
        forged = encoded(memory_op(memory=known.id))
        yield (
            "set the author",
            runs(writer, f"{columns} FROM graphmem.person WHERE name = %s", known.project, owner.name, known.id, forged, owner.name),
        )
        yield "change an operation", runs(writer, "UPDATE graphmem.op SET device = 'x'")
        yield "delete an operation", runs(writer, "DELETE FROM graphmem.op")
        yield "make oneself an administrator", runs(writer, "UPDATE graphmem.person SET is_admin = true")
        yield "show a memory to all", runs(writer, "UPDATE graphmem.memory SET visibility = 'organization'")
        yield "write as a reader", inserts(reader, read_only, memory_op())
        yield "write into a hidden memory", inserts(blind, hidden.project, memory_op(memory=hidden.id))
        yield (
            "comment on a hidden memory",
            runs(blind, "INSERT INTO graphmem.comment (project, memory, text) VALUES (%s, %s, 'x')", hidden.project, hidden.id),
        )
        yield "erase a memory of another", inserts(writer, known.project, memory_op(memory=known.id, forget=(known.op,), set={}))
        other = "organization" if known.visibility != "organization" else "project"
        yield (
            "show a memory of another to others",
            inserts(writer, known.project, memory_op(memory=known.id, set={"visibility": Write(other)})),
        )
        yield "invite", runs(writer, "SELECT graphmem.invite('evil', 'Evil', 'x', true)")
        yield "give oneself a role", runs(reader, "SELECT graphmem.set_role(%s, %s, '', 3)", read_only, reader.login)
        yield "join a team", runs(writer, "SELECT graphmem.set_member(%s, %s, 'member')", self.teams[0], writer.login)
        yield "export another", runs(writer, "SELECT graphmem.export_person(%s)", owner.login)
        yield "erase another", runs(writer, "SELECT graphmem.erase_person(%s)", owner.login)
        yield "come back", runs(out, "SELECT graphmem.enable(%s, true)", out.login)
        yield "write when disabled", inserts(out, self.projects[0], memory_op())

    def _write(self, one):
        project = self.random.choice(self.projects)
        if self.level(one, project) < WRITE:
            return
        visibility = self.random.choice(VISIBILITIES)
        teams = sorted(team for team in one.teams if (team, project) in self.team_levels)
        team = teams[0] if teams and visibility == "team" else ""
        if visibility == "team" and not team:
            return
        memory = str(uuid.uuid4())
        op = memory_op(memory=memory, set={"visibility": Write(visibility)})
        with self.as_(one):
            self.db.execute("SELECT set_config('graphmem.team', %s, false)", (team,))
            self.insert(project, op)
            self.db.execute("INSERT INTO graphmem.comment (project, memory, text) VALUES (%s, %s, 'Why?')", (project, memory))
            self.db.execute("SELECT graphmem.note_exchange(%s, 'd', 1)", (project,))
        self.memories.append(Known(memory, project, one.login, visibility, team, op.id))


class UndoneError(Exception):
    def __init__(self, harm):
        self.harm = harm
