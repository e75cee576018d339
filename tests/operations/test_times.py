"""Times are text in Python, a DateTime in GraphQL, and equal through every interface."""

from __future__ import annotations

import dataclasses
import re
from datetime import datetime

import pytest

from graphmem.answers.marks import Time
from graphmem.api.requests.limits import ServerLimits
from graphmem.api.schema import build_schema
from graphmem.api.types.derive import _objects, hints_of
from graphmem.errors import BadInputError

NAMED_LIKE_TIMES = re.compile(r"(_at|^at|^valid_(from|to)|_seen|_since|_until)$")


def test_every_time_of_an_answer_is_marked_as_one() -> None:
    build_schema(ServerLimits())
    plain = {
        f"{answer.__name__}.{name}"
        for answer in _objects
        if dataclasses.is_dataclass(answer)
        for name, (hint, marks) in hints_of(answer).items()
        if hint is str and NAMED_LIKE_TIMES.search(name) and not any(isinstance(one, Time) for one in marks)
    }
    assert plain == set()


def test_a_time_is_a_date_time_and_none_is_null(twins) -> None:
    data = twins.there._wire.ask("Memory", id="taught-one")["memory"]
    assert datetime.fromisoformat(data["createdAt"]).tzinfo is not None
    assert data["validTo"] is None
    here, there = (one.memory("taught-one") for one in (twins.here, twins.there))
    assert (there.created_at, there.valid_to) == (here.created_at, here.valid_to) == (data["createdAt"], "")


@pytest.mark.parametrize("where", ["here", "there"])
def test_what_is_not_a_time_is_refused_by_the_operation(twins, where: str) -> None:
    with pytest.raises(BadInputError, match="as_of"):
        getattr(twins, where).search("price", as_of="yesterday")


def test_a_time_that_is_not_text_is_refused_by_graphql(twins) -> None:
    with pytest.raises(BadInputError, match="DateTime"):
        twins.there._wire.ask("Search", query="price", asOf=5)
