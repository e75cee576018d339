"""A memory of one session or unit of work is not put in front of another."""

from __future__ import annotations

import pytest

from graphmem import GraphMem
from graphmem.injection.experiment import FULL, group_of
from graphmem.settings import Settings

TEXT = "The parser of carts drops its last line without a newline."


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    root = tmp_path_factory.mktemp("scopes") / "shop"
    root.mkdir()
    (root / "cart.py").write_text("def parse(text):\n    return text.split()\n")
    with GraphMem.open(tmp_path_factory.mktemp("index"), repo=root, settings=Settings(embedder="none", workers=1)) as opened:
        opened.index(root)
        yield opened


def shown(service, session, point):
    found = service.context(
        point, session=session, text="How does the parser of carts treat its last line?", files=["cart.py"], deadline_s=60
    )
    return [one.id for one in found.items if one.kind == "memory"]


def named(service, base):
    return next(f"{base} {n}" for n in range(1_000) if group_of(f"{base} {n}", service.project().name) == FULL)


@pytest.mark.parametrize("point", ["start", "prompt", "tool"])
@pytest.mark.parametrize(("scope", "own", "same_unit"), [("session", 1, 0), ("work_unit", 1, 1), ("module", 1, 1)])
def test_a_memory_stays_in_its_scope(service, scope, own, same_unit, point):
    sessions = {who: named(service, f"{who} {scope} {point}") for who in ("own", "same unit", "other")}
    unit = f"unit of {scope} {point}"
    service.start_session(sessions["own"], work_unit=unit)
    service.start_session(sessions["same unit"], work_unit=unit)
    service.start_session(sessions["other"], work_unit="another")
    memory = service.remember(
        TEXT, "gotcha", files=["cart.py"], scope=scope, session=sessions["own"], source="user_taught", work_unit={"label": unit}
    ).memory
    counts = {who: shown(service, session, point).count(memory.id) for who, session in sessions.items()}
    service.forget(memory.id, hard=True)
    if point == "start" and scope != "module":
        assert counts["other"] == 0
    else:
        assert counts == {"own": own, "same unit": same_unit, "other": int(scope == "module")}
