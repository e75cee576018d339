"""Two people share the memories of a project: nothing is lost, nothing is overwritten in silence."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from graphmem.cli.output import Output
from graphmem.cli.render.sharing import disagreements
from graphmem.errors import SharingError
from graphmem.memory.reading.clock import ManualClock
from graphmem.sharing.exchange import Exchange
from machines import KEY, Machine
from offline_histories import BrokenLineError, FlakyLog, ending


@pytest.fixture
def two(tmp_path, url):
    ann, ben = Machine(tmp_path / "ann", "Ann", url), Machine(tmp_path / "ben", "Ben", url)
    yield ann, ben
    ann.close()
    ben.close()


def test_what_one_learns_the_other_knows(two) -> None:
    ann, ben = two
    told = ann.say("Totals are rounded once, at the end.", type="decision", tags=["money"], files=["shop/price.py"])
    assert ann.sync().pushed == 1
    answer = ben.sync()
    assert (answer.added, answer.pulled) == (1, 1)
    [row] = ben.rows().values()
    assert (row.id, row.content, row.tags, row.type) == (told.id, told.content, ("money",), "decision")
    assert [ben.book.describer().name(link) for link in ben.book.index().about(row.id)] == ["shop/price.py"]
    assert ben.sync().changed == ann.sync().changed == 0


def test_an_exchange_counts_as_changed_and_forgotten_only_what_others_did(two, tmp_path) -> None:
    ann, ben = two
    first, second = ann.say("Totals are rounded once, at the end.", files=["shop/price.py"]), ann.say("Carts expire after a day.")

    def counts(machine):
        answer = machine.sync()
        return answer.added, answer.changed, answer.forgotten

    assert counts(ann) == (0, 0, 0)
    assert counts(ben) == (2, 0, 0)
    (tmp_path / "code" / "shop").mkdir(parents=True)
    (tmp_path / "code" / "shop" / "price.py").write_text("def rounded(cents):\n    return round(cents)\n")
    ben.gm.index(tmp_path / "code")  # links the memory to the file, which nobody else did
    assert counts(ben) == (0, 0, 0)
    ann.gm.update_memory(first.id, title="Rounding")
    ann.gm.forget(second.id)
    assert counts(ann) == (0, 0, 0)
    assert counts(ben) == (0, 1, 1)
    assert counts(ben) == (0, 0, 0)


def test_counts_add_and_tags_merge(two) -> None:
    ann, ben = two
    told = ann.say("Totals are rounded once, at the end.", tags=["money"])
    ann.sync()
    ben.sync()
    for machine, uses, tag in ((ann, 2, "shop"), (ben, 3, "tax")):
        for _ in range(uses):
            machine.gm.note_use([told.id])
        machine.gm.update_memory(told.id, tags=["money", tag])
    for machine in (ann, ben, ann):
        machine.sync()
    for machine in two:
        row = machine.rows()[told.id]
        assert row.used_count == 5
        assert set(row.tags) == {"money", "shop", "tax"}


def test_two_texts_of_one_memory_are_both_kept(two, capsys) -> None:
    ann, ben = two
    told = ann.say("The cache lives for an hour.")
    ann.sync()
    ben.sync()
    ann.gm.update_memory(told.id, content="The cache lives for two hours.")
    ben.gm.update_memory(told.id, content="The cache lives for ten minutes.")
    ann.sync()
    answer = ben.sync()
    ann.sync()
    [one] = answer.disagreements
    assert {(side.person, side.value) for side in one.sides} == {
        ("Ann", "The cache lives for two hours."),
        ("Ben", "The cache lives for ten minutes."),
    }
    assert ann.contents() == ben.contents() == ["The cache lives for ten minutes.", "The cache lives for two hours."]
    disagreements(Output(), [one])
    printed = capsys.readouterr().out
    winner = next(side for side in one.sides if side.person == "Ann")
    loser = next(side for side in one.sides if side.person == "Ben")
    assert f"`graphmem memory resolve {winner.short_id}`" in printed
    assert winner.memory not in printed, "a person types the short id"
    ben.gm.resolve_conflict(winner.short_id, loser.short_id)
    ben.sync()
    assert ann.sync().disagreements == []
    assert ann.contents() == ben.contents() == ["The cache lives for two hours."]


def test_deciding_against_a_memory_keeps_words_that_were_not_seen(two) -> None:
    ann, ben = two
    told = ann.say("The cache lives for an hour.")
    ann.sync()
    ben.sync()
    ann.gm.update_memory(told.id, content="The cache lives for two hours.")
    ben.gm.update_memory(told.id, content="The cache lives for ten minutes.")
    for one in (ann, ben, ann):
        answer = one.sync()
    [disagreement] = answer.disagreements
    [kept] = [side for side in disagreement.sides if side.memory != told.id]
    [ended] = [side for side in disagreement.sides if side.memory == told.id]
    ben.clock.advance(timedelta(hours=1))
    ben.gm.update_memory(told.id, content="The cache lives for a day.")  # meanwhile, offline
    ann.gm.resolve_conflict(kept.memory, told.id)
    for one in (ann, ben, ann, ben):
        one.sync()
    assert ann.contents() == ben.contents() == sorted([kept.value, "The cache lives for a day."])
    assert ended.value not in ann.contents()


def test_a_field_that_two_chose_shows_both_until_one_decides(two) -> None:
    ann, ben = two
    told = ann.say("Prices are kept in cents, as whole numbers.", type="fact")
    ann.say("Nobody changes this one.")
    ann.sync()
    ben.sync()
    ann.gm.update_memory(told.id, type="decision")
    ben.gm.update_memory(told.id, type="requirement")
    ann.sync()
    [one] = ben.sync().disagreements
    assert (one.field, [(side.value, side.person) for side in one.sides]) == ("type", [("decision", "Ann"), ("requirement", "Ben")])
    assert ben.side.apart() == {told.id}  # the others need not be compared
    ben.exchange.decide(ben.rows()[told.id], "type", 2)
    assert ben.sync().disagreements == ann.sync().disagreements == []
    assert ann.rows()[told.id].type == ben.rows()[told.id].type == "requirement"


def test_forgetting_wins_but_keeps_words_that_were_not_seen(two, url) -> None:
    ann, ben = two
    plain, edited = ann.say("Orders are sent by mail."), ann.say("Invoices are sent by fax.")
    private = ann.say("The door code of the office is the year of zanzibar.", tags=["zanzibar"])
    ann.sync()
    ben.sync()
    ann.gm.forget(plain.id)
    ann.gm.forget(edited.id, hard=True)
    ann.gm.forget(private.id, hard=True)
    ben.gm.update_memory(edited.id, content="Invoices are sent by mail.")
    for machine in (ann, ben, ann, ben):
        machine.sync()
    assert ann.contents() == ben.contents() == ["Invoices are sent by mail."]
    for machine in two:
        assert edited.id not in machine.rows()
        machine.close()
        files = [*(machine.folder / "memories").iterdir(), machine.folder / "sharing.sqlite"]
        assert b"zanzibar" not in b"".join(path.read_bytes() for path in files)
        machine.open()
    with psycopg.connect(url) as db:
        assert all(b"zanzibar" not in row[0] for row in db.execute("SELECT body FROM graphmem.op"))


@pytest.mark.parametrize("how", ["forget", "personal"])
def test_words_that_waited_are_erased_with_the_others(two, url, how) -> None:
    ann, ben = two
    ann.sync()
    told = ann.say("The door code is zanzibar.", tags=["zanzibar", "door"])
    ann.exchange.collect()
    for change in (
        {"title": "Of zanzibar"},
        {"tags": ["door"]},
        {"tags": ["door", "zanzibar"]},
        {"content": "The door code has four digits."},
    ):
        ann.gm.update_memory(told.id, **change)
        ann.exchange.collect()
    if how == "personal":
        ann.gm.update_memory(told.id, visibility="personal")
    for one in ann.rows():  # the earlier text is a memory too
        ann.gm.forget(one, hard=True)
    ann.exchange.collect()
    assert ann.sync().waiting == 0
    ben.sync()
    assert ben.contents() == []
    with psycopg.connect(url) as db:
        assert all(b"zanzibar" not in row[0] for row in db.execute("SELECT body FROM graphmem.op"))


def test_words_of_exchanges_that_ended_early_are_erased(two, url, monkeypatch) -> None:
    ann, ben = two
    told = ann.say("The door code is zanzibar.", tags=["zanzibar"])
    ann.sync()

    def end(*_):
        raise BrokenLineError

    for change in (
        {"content": "The door code was zanzibar."},
        {"title": "Of zanzibar"},
        {"title": "Doors"},
        {"content": "Ask Ben.", "tags": []},
    ):
        ann.gm.update_memory(told.id, **change)
        with monkeypatch.context() as patch:
            patch.setattr(Exchange, "_materialise", end)
            with pytest.raises(BrokenLineError):
                ann.sync()
    for one in ann.rows():
        ann.gm.forget(one, hard=True)
    ann.sync()
    ben.sync()
    assert ben.contents() == []
    with psycopg.connect(url) as db:
        assert all(b"zanzibar" not in row[0] for row in db.execute("SELECT body FROM graphmem.op"))


def test_a_memory_that_becomes_personal_takes_its_earlier_texts_along(two, url) -> None:
    ann, ben = two
    told = ann.say("The door code is zanzibar.")
    ann.sync()
    ben.sync()
    ben.gm.update_memory(told.id, content="The door code was zanzibar.")
    ben.sync()
    ann.sync()
    ann.gm.update_memory(told.id, content="The door code is not zanzibar.")
    ann.sync()
    ben.sync()
    assert len(ben.rows()) == 3
    ann.gm.update_memory(told.id, visibility="personal")
    ann.sync()
    ben.sync()
    assert ben.rows() == {}
    assert len(ann.rows(shared=False)) == 3
    with psycopg.connect(url) as db:
        assert all(b"zanzibar" not in row[0] for row in db.execute("SELECT body FROM graphmem.op"))


def test_personal_memories_stay(two) -> None:
    ann, ben = two
    ann.say("I dislike tabs in this project.", visibility="personal")
    ann.say("I like short functions everywhere.", scope="user")
    told = ann.say("Carts expire after a day.")
    ann.sync()
    ben.sync()
    assert ben.contents() == ["Carts expire after a day."]
    ann.gm.update_memory(told.id, visibility="personal")
    ann.sync()
    ben.sync()
    assert ben.contents() == []
    assert told.id in ann.rows(shared=False)
    ann.gm.update_memory(told.id, visibility="project")
    ann.sync()
    ben.sync()
    assert ben.contents() == ["Carts expire after a day."]


def test_a_lost_sidecar_and_a_restored_journal_overwrite_nothing(two, tmp_path) -> None:
    ann, ben = two
    told = ann.say("The cache lives for an hour.")
    ann.sync()
    ben.sync()
    ben.close()
    shutil.copytree(ben.folder, tmp_path / "old")
    ben.open()
    ann.gm.update_memory(told.id, content="The cache lives for two hours.")
    ann.gm.note_use([told.id])
    ann.sync()
    ben.sync()
    ben.close()
    (ben.folder / "sharing.sqlite").rename(tmp_path / "old" / "sharing.sqlite")  # the index is restored, what was exchanged is known
    shutil.rmtree(ben.folder)
    (tmp_path / "old").rename(ben.folder)
    ben.open()
    assert ben.contents() == ["The cache lives for an hour."]
    ben.sync()
    assert ben.contents() == ["The cache lives for two hours."]
    ben.side.close()
    (ben.folder / "sharing.sqlite").unlink()
    ben.say("Carts expire after a day.")
    answer = ben.sync()
    assert answer.disagreements == []
    ann.sync()
    assert ann.contents() == ben.contents() == ["Carts expire after a day.", "The cache lives for two hours."]
    assert ann.rows()[told.id].used_count == ben.rows()[told.id].used_count == 1


@pytest.mark.parametrize("after", [False, True], ids=["before the journal", "after the journal"])
def test_a_process_that_ends_in_an_exchange_counts_nothing_twice(two, after) -> None:
    ann, ben = two
    told = ann.say("Totals are rounded once, at the end.")
    ann.sync()
    ben.sync()
    ann.gm.note_use([told.id])
    ann.gm.note_use([told.id])
    ann.sync()
    with pytest.raises(BrokenLineError), ending(ben, after=after):
        ben.sync()
    ben.close()
    ben.open()
    ben.gm.note_use([told.id])
    for machine in (ben, ann, ben):
        machine.sync()
    assert [machine.rows()[told.id].used_count for machine in two] == [3, 3]


@pytest.mark.parametrize("place", ["before push", "after push", "in pull"])
def test_a_line_that_breaks_neither_loses_nor_doubles(two, url, place) -> None:
    ann, ben = two
    told = ann.say("Totals are rounded once, at the end.")
    ann.gm.note_use([told.id])
    with FlakyLog(url, KEY) as log:
        log.breaks = place
        with pytest.raises(BrokenLineError):
            ann.exchange.run(log)
    assert ann.sync().waiting == 0
    ben.sync()
    assert [machine.rows()[told.id].used_count for machine in two] == [1, 1]


def test_a_clock_that_is_ahead_is_refused(two) -> None:
    ann, _ = two
    ann.clock = ann.book.clock = ManualClock(datetime.now(UTC) + timedelta(minutes=6))
    with pytest.raises(SharingError, match="6 minutes ahead"):
        ann.sync()


def test_a_database_that_was_restored_gets_back_what_it_lost(two, url) -> None:
    ann, ben = two
    ann.say("Carts expire after a day.")
    ann.sync()
    with psycopg.connect(url) as db:
        db.execute("DELETE FROM graphmem.op")
        db.execute("UPDATE graphmem.project SET head = 0")
    ben.sync()
    ann.sync()
    ben.sync()
    assert ann.contents() == ben.contents() == ["Carts expire after a day."]


def test_operations_of_strangers_are_checked(two, url) -> None:
    ann, ben = two
    ann.say("Carts expire after a day.")
    ann.sync()
    with psycopg.connect(url) as db:
        [(body,)] = db.execute("SELECT body FROM graphmem.op").fetchall()
        for number, wrong in enumerate((b"[]", body.replace(b'"confidence":[', b'"confidence":[7'), body.replace(b"global", b"user")), 2):
            columns = "(project, seq, id, device, person, memory, body)"
            db.execute(f"INSERT INTO graphmem.op {columns} VALUES (%s, %s, gen_random_uuid(), '', '', '', %s)", (KEY, number, wrong))
        db.execute("UPDATE graphmem.project SET head = 4")
    assert len(ben.sync().notes) == 3
    assert ben.contents() == ["Carts expire after a day."]


def test_a_memory_with_an_unreadable_operation_can_be_forgotten(two, url) -> None:
    ann, ben = two
    told = ann.say("The door code is zanzibar.")
    ann.sync()
    with psycopg.connect(url) as db:
        columns = "(project, seq, id, device, person, memory, body)"
        wrong = b'{"memory": "the door code is zanzibar"}'
        db.execute(f"INSERT INTO graphmem.op {columns} VALUES (%s, 2, gen_random_uuid(), '', '', %s, %s)", (KEY, told.id, wrong))
        db.execute("UPDATE graphmem.project SET head = 2")
    ben.sync()
    ann.sync()
    ann.gm.forget(told.id, hard=True)
    assert ann.sync().waiting == 0
    ben.sync()
    assert ann.contents() == ben.contents() == []
    with psycopg.connect(url) as db:
        assert all(b"zanzibar" not in row[0] for row in db.execute("SELECT body FROM graphmem.op"))


def test_a_secret_that_others_sent_is_left_out(two, url) -> None:
    ann, ben = two
    ann.say("The staging key is in the vault, look under PLACE.")
    ann.sync()
    with psycopg.connect(url) as db:
        db.execute("UPDATE graphmem.op SET body = replace(encode(body, 'escape'), 'PLACE', %s)::bytea", ("ghp_" + "Ab3dEf6hIj9k" * 3,))
    [note] = ben.sync().notes
    assert note.startswith("a secret (")
    assert "ghp_" not in ben.contents()[0]
