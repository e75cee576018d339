"""A bulk write over a server names the items of the whole write, also if it needs several requests."""

from __future__ import annotations

import pytest

from graphmem.client import remote
from graphmem.errors import BadInputError

CONTENTS = ("Carts expire after a day.", "Orders are sent by mail.", "Totals are rounded once.", "", "Prices are whole cents.", "")


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MANY", 2)


@pytest.mark.parametrize("where", ["here", "there"])
def test_rejected_items_have_their_positions_in_the_whole_write(twins, where: str) -> None:
    items = [{"content": one} for one in CONTENTS]
    answer = getattr(twins, where).remember_many(items, skip_invalid=True)
    assert [one.index for one in answer.refused] == [3, 5]
    assert len(answer.results) == 4


@pytest.mark.parametrize("where", ["here", "there"])
def test_an_error_names_the_item_of_the_whole_write(twins, where: str) -> None:
    with pytest.raises(BadInputError, match=r"^item 3: ") as raised:
        getattr(twins, where).remember_many([{"content": one} for one in CONTENTS])
    assert raised.value.index == 3
