"""Every signal fires where it should and nowhere else, on annotated sessions of real agents' tools."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphmem.memory.reading.clock import ManualClock
from graphmem.memory.texts.types import TYPES
from graphmem.observe.model import as_json, session_record
from graphmem.observe.running.observer import Observer
from graphmem.observe.signals import BY_VALUE, SIGNALS

SESSIONS = sorted((Path(__file__).parent / "sessions").glob("*.jsonl"))
SPECIFIED = {
    "co_access": (2, 0.91, 3),
    "self_correction": (9, 0.88, 1),
    "error_retry": (3, 0.85, 2),
    "parallel_conflict": (16, 0.82, 1),
    "read_abandon": (5, 0.79, 3),
    "repeated_grep": (6, 0.76, 2),
    "test_order": (13, 0.74, 3),
    "tool_sequence": (7, 0.73, 3),
    "file_access": (1, 0.72, 3),
    "step_overrun": (15, 0.71, 3),
    "backtrack": (4, 0.68, 2),
    "config_touch": (14, 0.66, 2),
    "glob_ignore": (11, 0.64, 2),
    "context_token_spike": (17, 0.63, 3),
    "external_reference": (10, 0.61, 3),
    "import_chase": (12, 0.52, 4),
    "time_anomaly": (8, 0.48, 3),
}


def read(path):
    head, *events = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return head, events


def watched(tmp_path, events):
    """The records of all sessions of a file, by id."""
    observer = Observer(tmp_path / "trails", lambda: ["/home/dev/shop"], ManualClock(datetime(2026, 1, 2, tzinfo=UTC)))
    seen = observer.observe(events)
    assert seen.taken == len(events), seen.ignored
    names = dict.fromkeys(event["session_id"] for event in events)
    ended = {record.info.id: record for record in seen.finished}
    for name in names:
        ended.setdefault(name, observer.record(name))
    observer.close()
    return ended


def fits(finding, wanted):
    told = as_json(finding)
    for name, value in wanted.items():
        if name == "facts":
            if any(told["facts"].get(key) != inner for key, inner in value.items()):
                return False
        elif name != "session" and told[name] != value:
            return False
    return True


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_a_session_gives_the_findings_it_is_annotated_with(path, tmp_path):
    head, events = read(path)
    records = watched(tmp_path, events)
    findings = [one for record in records.values() for one in record.findings]
    for wanted in head["expect"]:
        among = records[wanted["session"]].findings if "session" in wanted else findings
        assert any(fits(one, wanted) for one in among), (wanted, [as_json(one) for one in among if one.signal == wanted["signal"]])
    assert not [as_json(one) for one in findings if one.signal in head["never"]]
    if "dead_ends" in head:
        found = [as_json(one) for record in records.values() for one in record.dead_ends]
        assert [{key: one[key] for key in wanted} for one, wanted in zip(found, head["dead_ends"], strict=True)] == head["dead_ends"]


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_a_record_survives_json(path, tmp_path):
    _, events = read(path)
    for record in watched(tmp_path, events).values():
        assert session_record(json.loads(json.dumps(as_json(record)))) == record


def test_every_signal_has_sessions_in_which_it_fires_and_in_which_it_must_not():
    heads = [read(path)[0] for path in SESSIONS]
    fires = {wanted["signal"] for head in heads for wanted in head["expect"]}
    silent = {name for head in heads for name in head["never"]}
    assert fires >= set(SIGNALS)
    assert silent >= set(SIGNALS)


def test_the_table_is_the_specification():
    assert {name: (row.number, round(row.value, 2), row.min_sessions) for name, row in SIGNALS.items()} == SPECIFIED
    assert sorted(row.number for row in SIGNALS.values()) == list(range(1, 18))
    assert all(kind in TYPES for row in SIGNALS.values() for kind in row.becomes)
    assert BY_VALUE[0] == "time_anomaly"
    assert BY_VALUE[-1] == "co_access"


def test_the_same_events_give_the_same_record_whatever_the_batches(tmp_path):
    for path in SESSIONS[:12]:
        _, events = read(path)
        whole = watched(tmp_path / path.stem / "whole", events)
        observer = Observer(tmp_path / path.stem / "parts", lambda: ["/home/dev/shop"], ManualClock(datetime(2026, 1, 2, tzinfo=UTC)))
        ended = [record for event in events for record in observer.observe([event]).finished]
        for record in ended:
            assert record._replace(info=whole[record.info.id].info) == whole[record.info.id]
        observer.close()
