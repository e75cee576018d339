"""Operations of other machines: whatever arrives is read, or skipped with a reason."""

from __future__ import annotations

import contextlib
import uuid

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.sharing.state import MOST_COUNT, Shared, packed, unpacked
from graphmem.sharing.wire import FIELDS, NewerOpError, Op, UnreadableOpError, Write, decoded, encoded

ID = "6f1c3a52-8f0e-5b54-9d0a-6c1d2f7b9e10"
AT = "2026-01-01T00:00:00+00:00"
WHOLE = {
    "v": 1,
    "id": ID,
    "device": "d",
    "hlc": 1,
    "person": "Ann",
    "at": AT,
    "memory": "m",
    "set": {
        "text": [["Carts expire.", AT], [ID], False, [ID]],
        "confidence": [0.5, [ID], True, []],
        "status": [["pinned", AT, None], [], False, []],
    },
    "counts": {"strength": 2},
    "add": ['["tag","slow"]'],
    "drop": {'["tag","old"]': [ID]},
    "is_new": True,
    "forget": [ID],
    "revive": [ID],
    "upto": 4,
    "of": ID,
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 64)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([ID, AT, "0001-01-01T00:00:00+14:00"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def places(value, path=()):
    """Every place in a JSON value."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def changed(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


@given(st.sampled_from(list(places(WHOLE))), JSON)
def test_a_changed_operation_is_read_or_skipped(path, new) -> None:
    try:
        body = orjson.dumps(changed(WHOLE, path, new))
    except TypeError:  # a number of more than 64 bits: no JSON of ours
        return
    with contextlib.suppress(UnreadableOpError, NewerOpError):
        assert decoded(encoded(decoded(body))) == decoded(body)


@pytest.mark.parametrize("path", [("id",), ("of",), ("forget", 0), ("revive", 0), ("set", "confidence", 1, 0), ("set", "text", 3, 0)])
def test_an_id_must_be_a_string(path) -> None:
    with pytest.raises(UnreadableOpError):
        decoded(orjson.dumps(changed(WHOLE, path, 5)))


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1969-12-31T23:59:59+00:00"])
def test_a_time_must_be_one_that_every_database_stores(at) -> None:
    with pytest.raises(UnreadableOpError):
        decoded(orjson.dumps(WHOLE | {"at": at}))


def test_a_counter_ends_where_databases_end() -> None:
    state = Shared("m")
    for _ in range(6):
        state = state.take(decoded(orjson.dumps(WHOLE | {"id": str(uuid.uuid4()), "counts": {"strength": (1 << 62) - 1}})))
    assert state.counts == {"strength": MOST_COUNT}
    assert unpacked("m", packed(state)).counts == state.counts


def test_empty_fields_are_left_out_and_required_ones_are_not() -> None:
    op = Op(ID, "d", 0, "Ann", AT, "m", {"confidence": Write(0.0)}, forget=())
    assert decoded(encoded(op)) == op
    assert set(orjson.loads(encoded(op))) == {"v", "id", "device", "hlc", "person", "at", "memory", "set", "forget"}
    assert set(FIELDS) >= set(WHOLE["set"])
