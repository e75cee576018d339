"""People, teams and roles: everybody sees and writes what the rules give, and nothing else."""

from __future__ import annotations

import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import orjson
import psycopg
import pytest

from graphmem.errors import SharingError
from graphmem.sharing.organisation import OrganisationDesk
from graphmem.sharing.postgres import SharedLog
from graphmem.sharing.wire import Write, encoded
from machines import KEY, Machine
from organisations import WALLS, Example, memory_op, without_rule


@pytest.fixture(scope="module")
def example(postgres):
    made = Example(postgres.make("walls"), people=12, teams=3, projects=4, memories=6)
    yield made
    made.close()


def test_everybody_sees_what_the_rules_give_and_forges_nothing(example) -> None:
    assert {one.visibility for one in example.memories} == {"personal", "team", "project", "organization"}
    assert example.leaks() == []
    assert example.forgeries() == []


@pytest.fixture(scope="module")
def worked(example):
    """Attacks that succeed without each wall: leaks, and forbidden actions."""
    return {wall: example.without(wall) for wall in WALLS}


@pytest.mark.parametrize("wall", WALLS)
def test_without_a_wall_the_check_fails(worked, wall) -> None:
    assert any(worked[wall])


def test_every_forbidden_act_works_without_its_wall(example, worked) -> None:
    assert {name for _, acts in worked.values() for name in acts} == {name for name, _ in example.acts()}


# ---- one use of it, from the invitation to the erasure


@pytest.fixture
def team(tmp_path, url):
    """Ann and Ben of team `core`, Cem of no team, each on a machine; the desk of the database's owner."""
    mark = uuid.uuid4().hex[:8]
    with OrganisationDesk(url, new=True) as desk:
        desk.found()
        addresses = {}
        for name, of_team in (("Ann", "core"), ("Ben", "core"), ("Cem", "")):
            invited = desk.invite(f"{name.lower()}_{mark}", name, team=of_team, project=KEY, level="write", admin=False)
            addresses[name] = invited.address
        desk.set_role(KEY, f"ann_{mark}", "", "curate")
        machines = {name: Machine(tmp_path / name, "an invented name", address) for name, address in addresses.items()}
        yield desk, machines["Ann"], machines["Ben"], machines["Cem"]
        for one in machines.values():
            one.close()
        for person in desk.people().people:
            desk.erase(person.login)


def login(machine):
    return machine.url.partition("//")[2].partition(":")[0]


def test_an_owner_without_the_right_to_make_logins_is_told_what_is_missing(postgres) -> None:
    mark = uuid.uuid4().hex[:8]
    name, owner = f"plain_{mark}", f"owner_{mark}"
    url = postgres.make(name)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f'CREATE ROLE "{owner}" LOGIN')
        db.execute(f'ALTER DATABASE "{name}" OWNER TO "{owner}"')
        with OrganisationDesk(url.replace("graphmem@", f"{owner}@"), new=True) as desk:
            desk.found()
            with pytest.raises(SharingError, match=f'ALTER ROLE "{owner}" CREATEROLE'):
                desk.invite(f"dan_{mark}", "Dan", team="", project="", level="write", admin=False)
            db.execute(f'CREATE ROLE "dan_{mark}" LOGIN')
            assert desk.invite(f"dan_{mark}", "Dan", team="", project="", level="write", admin=False).has_password is False


def test_an_operation_that_the_database_cannot_read_does_not_hold_up_the_others(team) -> None:
    _, ann, ben, _ = team
    fine, wrong = memory_op("Carts expire after a day."), memory_op(of="no id")
    with SharedLog(ann.url, KEY) as log:
        assert set(log.push([wrong, fine])) == {fine.id}
        assert "uuid" in log.refused[wrong.id]
    later = memory_op()
    newer = orjson.dumps(orjson.loads(encoded(later)) | {"v": 2})  # it would stop the exchanges of everybody
    insert = "INSERT INTO graphmem.op (project, id, device, memory, body) VALUES (%s, %s, %s, %s, %s)"
    with psycopg.connect(ann.url) as db, pytest.raises(psycopg.Error, match="another version"):
        db.execute(insert, (KEY, later.id, later.device, later.memory, newer))
    assert ben.sync().pulled == 1


def test_rules_of_an_earlier_graphmem_are_named_and_replaced(team, url) -> None:
    desk, ann, *_ = team
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("DROP FUNCTION graphmem.rules(); DROP FUNCTION graphmem.has_op(text, bigint, uuid)")
        db.execute(without_rule("b->'v' IS DISTINCT FROM '1'", "false"))
    ann.say("Prices are whole cents.")
    assert any("graphmem organisation found" in note for note in ann.sync().notes)
    desk.found()
    assert ann.sync().notes == []
    later = memory_op()
    newer = orjson.dumps(orjson.loads(encoded(later)) | {"v": 2})
    insert = "INSERT INTO graphmem.op (project, id, device, memory, body) VALUES (%s, %s, %s, %s, %s)"
    with psycopg.connect(ann.url) as db, pytest.raises(psycopg.Error, match="another version"):
        db.execute(insert, (KEY, later.id, later.device, later.memory, newer))


def test_an_operation_that_a_failover_lost_is_sent_again_though_rights_changed(team, url) -> None:
    desk, ann, _, cem = team
    said = ann.say("Prices are whole cents.")
    ann.sync()
    with psycopg.connect(url, autocommit=True) as db:  # the node that takes over lacks the last operation
        [[number]] = db.execute("SELECT head FROM graphmem.project WHERE key = %s", (KEY,)).fetchall()
        [[memory]] = db.execute("DELETE FROM graphmem.op WHERE project = %s AND seq = %s RETURNING memory", (KEY, number)).fetchall()
        db.execute("DELETE FROM graphmem.memory WHERE project = %s AND id = %s", (KEY, memory))
        db.execute("UPDATE graphmem.project SET head = head - 1 WHERE key = %s", (KEY,))
    with SharedLog(cem.url, KEY) as log:
        hidden = memory_op(set={"visibility": Write("personal")})
        assert set(log.push([hidden])) == {hidden.id}, log.refused  # the next operation is one that Ann does not see
    desk.set_role(KEY, cem.url.partition("//")[2].partition(":")[0], "", "curate")
    ann.sync()
    with psycopg.connect(url) as db:
        assert db.execute("SELECT count(*) FROM graphmem.op WHERE project = %s AND memory = %s", (KEY, memory)).fetchone() != (0,)
    assert said.id == memory


def test_a_teams_memory_stays_in_the_team_and_names_are_true(team) -> None:
    desk, ann, ben, cem = team
    for_all, for_core = ann.say("Carts expire after a day."), ann.say("The discount is a secret of the team.", visibility="team")
    ann.sync()
    assert ben.sync().added == 2
    assert cem.sync().added == 1
    assert cem.contents() == ["Carts expire after a day."]
    ben.gm.update_memory(for_all.id, content="Carts expire after two days.")
    ann.gm.update_memory(for_all.id, content="Carts expire after an hour.")
    ben.sync()
    ann.sync()
    [one] = ben.sync().disagreements
    assert {(side.person, side.value) for side in one.sides} == {
        ("Ann", "Carts expire after an hour."),
        ("Ben", "Carts expire after two days."),
    }
    assert cem.sync().forgotten == 0
    ann.gm.update_memory(for_all.id, visibility="team")  # from now on Cem may not see it
    ann.sync()
    assert cem.sync().forgotten == 1
    assert cem.contents() == ["Carts expire after an hour."]  # the copy of the other text is a memory of its own
    desk.set_member("core", login(cem), "member")
    cem.sync()
    assert cem.contents() == ann.contents()
    desk.set_role(KEY, login(ben), "", "write")
    desk.set_member("core", login(ben), "none")
    assert ben.sync().forgotten == 2
    assert for_core.id not in ben.rows()


def test_a_memory_that_is_shown_during_an_exchange_arrives_whole(team) -> None:
    desk, ann, _, cem = team
    told = ann.say("The discount is a secret of the team.", visibility="team")
    ann.sync()
    ann.say("Carts expire after a day.")  # Cem has read up to this
    ann.sync()
    cem.sync()

    class Late(SharedLog):
        def pull(self, after):
            if login(cem) not in desk.people().teams[0].members:
                desk.set_member("core", login(cem), "member")
                ann.gm.note_use([told.id])
                ann.sync()
            return super().pull(after)

    with Late(cem.url, KEY) as log:
        cem.exchange.run(log)
    cem.sync()
    row = cem.rows()[told.id]
    assert (row.content, row.used_count) == ("The discount is a secret of the team.", 1)
    assert cem.sync().pulled == 0


def test_what_a_rule_forbids_waits_and_the_rest_is_sent(team) -> None:
    desk, ann, ben, _ = team
    told = ann.say("Carts expire after a day.")
    ann.sync()
    ben.sync()
    ben.gm.forget(told.id, hard=True)
    ben.say("Totals are rounded once, at the end.")
    answer = ben.sync()
    assert answer.waiting == 1
    assert answer.pushed == 1
    assert answer.notes == ["the organisation refused an operation, which waits here: only its owner or a curator may erase a memory"]
    assert ann.sync().added == 1
    desk.set_role(KEY, login(ben), "", "curate")
    assert ben.sync().waiting == 0
    assert ann.sync().forgotten == 1
    desk.set_role(KEY, login(ben), "", "none")
    desk.set_role(KEY, "", "core", "none")
    with pytest.raises(SharingError, match="has no role in the project"):
        ben.sync()
    desk.enable(login(ben), on=False)
    with pytest.raises(SharingError, match="not an active person"):
        ben.sync()


def test_after_a_restore_each_sends_their_own_words(team) -> None:
    desk, ann, ben, _ = team
    told = ann.say("Carts expire after a day.")
    ann.sync()
    ben.sync()
    with psycopg.connect(desk._url) as db:  # a backup from before
        db.execute("DELETE FROM graphmem.op")
        db.execute("DELETE FROM graphmem.memory")
        db.execute("UPDATE graphmem.project SET head = 0")
        db.execute("UPDATE graphmem.about SET epoch = gen_random_uuid()")
    ben.say("Totals are rounded once, at the end.")
    assert ben.sync().pushed == 1
    assert ann.sync().pushed == 1
    ben.sync()
    assert ben.contents() == ann.contents() == ["Carts expire after a day.", "Totals are rounded once, at the end."]
    assert {one.name: one.operations for one in desk.people().people} == {"Ann": 1, "Ben": 1, "Cem": 0}
    assert ben.side.view(told.id).head("text").person == "Ann"


def test_earlier_memories_belong_to_nobody_and_stay(tmp_path, url) -> None:
    old = Machine(tmp_path / "old", "Ann", url)
    old.say("Carts expire after a day.")
    old.sync()
    with OrganisationDesk(url, new=True) as desk:
        desk.found()
        with pytest.raises(SharingError, match="not an active person"):
            old.sync()
        person = f"dana_{uuid.uuid4().hex[:8]}"
        new = Machine(tmp_path / "new", "", desk.invite(person, "Dana", team="", project=KEY, level="read", admin=False).address)
        assert new.sync().added == 1
        new.say("A reader's own words.")
        answer = new.sync()
        assert answer.waiting == 1
        assert answer.notes[0].endswith("your role in this project does not allow writing")
        desk.erase(person)
        new.close()
    old.close()


def test_one_person_is_exported_and_erased_everywhere(team) -> None:
    desk, ann, ben, cem = team
    told, kept = ann.say("Ann says zanzibar."), ben.say("Ben says that carts expire.")
    ann.sync()
    ben.sync()
    ben.gm.update_memory(told.id, content="Ben writes zanzibar too.")
    ann.sync()
    ann.gm.update_memory(kept.id, content="Ann says that carts expire after a day.")
    desk_of_ben = OrganisationDesk(ben.url)
    with desk_of_ben:
        desk_of_ben.comment(KEY, told.id, "Why zanzibar?", "")
    with OrganisationDesk(ann.url) as own:
        [asked] = own.comments(KEY, [told.id])
        own.comment(KEY, told.id, "Because.", asked.id)
        assert [(one.person, one.text, one.depth) for one in own.comments(KEY, [told.id])] == [
            ("Ben", "Why zanzibar?", 0),
            ("Ann", "Because.", 1),
        ]
        rows = [json.loads(line) for line in own.export(login(ann)).content.splitlines()]
        with pytest.raises(SharingError, match="only an administrator"):
            own.export(login(ben))
    for machine in (ann, ben, cem):
        machine.sync()
    assert {row["kind"] for row in rows} >= {"person", "team", "role", "memory", "operation", "comment", "exchange"}
    assert "zanzibar" in json.dumps(rows)
    receipt = desk.erase(login(ann))
    assert (receipt.memories, receipt.comments, receipt.role_dropped) == (2, 0, True)  # also the text that Ben replaced
    for machine in (ben, cem):
        machine.sync()
        assert told.id not in machine.rows()
    assert "Ann says that carts expire after a day." in ben.contents()
    with psycopg.connect(desk._url) as db:
        everything = b"".join(row[0] for row in db.execute("SELECT body FROM graphmem.op"))
    assert b'"Ann"' not in everything
    assert b"Ann says zanzibar" not in everything
    assert [one.action for one in desk.audit("", 1)] == ["erase person"]


def test_people_who_push_at_once_get_numbers_without_holes(url) -> None:
    rounds, people = 10, ("ann", "ben", "cem", "dan")
    mark = uuid.uuid4().hex[:8]
    with OrganisationDesk(url, new=True) as desk:
        desk.found()
        addresses = [desk.invite(f"{one}_{mark}", one, team="", project=KEY, level="write", admin=False).address for one in people]
        ready = threading.Barrier(len(people))

        def push(address):
            with SharedLog(address, KEY) as log:
                ready.wait(30)
                return [log.push([memory_op(), memory_op()]) for _ in range(rounds)]

        with ThreadPoolExecutor(len(people)) as pool:
            numbers = [number for pushes in pool.map(push, addresses) for one in pushes for number in one.values()]
        assert sorted(numbers) == list(range(1, 2 * rounds * len(people) + 1))
        assert {one.operations for one in desk.people().people} == {2 * rounds}
        for one in desk.people().people:
            desk.erase(one.login)
