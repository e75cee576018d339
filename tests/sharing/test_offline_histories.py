"""Whatever people do offline, and wherever lines and processes end: nothing is lost, nothing is overwritten in silence.

`python -m benchmarks sharing` runs ten thousand of these histories.
"""

from __future__ import annotations

import pytest

from graphmem.sharing.state import Shared
from offline_histories import Histories

COUNT = 6


@pytest.fixture(params=[False, True], ids=["open", "organisation"])
def histories(request, tmp_path, url):
    made = Histories(tmp_path, url, seed=7, organised=request.param)
    yield made
    made.close()


def test_random_offline_histories_lose_nothing(histories) -> None:
    for number in range(COUNT):
        [told], wrong = histories.run()
        assert wrong == [], f"history {number}"
        assert told.operations
    _, wrong = histories.run(together=COUNT)
    assert wrong == []


@pytest.mark.parametrize("histories", [False], indirect=True)
def test_the_check_notices_that_the_last_writer_wins(histories, monkeypatch) -> None:
    take = Shared.take

    def last_wins(self, op):
        take(self, op)
        self.heads = {name: heads[-1:] for name, heads in self.heads.items()}
        return self

    monkeypatch.setattr(Shared, "take", last_wins)
    _, wrong = histories.run(together=20)
    assert any("lost" in one for one in wrong)
