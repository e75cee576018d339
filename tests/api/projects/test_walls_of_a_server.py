"""Nobody sees a memory that the rules do not give, by any operation of any interface; and the check notices a missing protection."""

from __future__ import annotations

import re
from pathlib import Path

import graphmem
from hosted import hosted
from walls import DOCUMENTS, WALLS, Walls


def test_every_operation_through_every_interface_shows_what_the_rules_give(tmp_path):
    with hosted(tmp_path / "srv") as server:
        walls = Walls(server, tmp_path, people=5, teams=2, projects=3)
        assert walls.leaks() == []
        assert walls.missing == []
        assert walls.calls > 500
        assert walls.words > 100
        for name, off in WALLS.items():
            with off():
                assert walls.is_leaking(walls.people[:2]), name
        assert walls.unexercised() == []
        walls.close()


def test_every_stored_document_is_asked():
    folder = Path(graphmem.__file__).parents[1] / "queries/operations"
    stored = "\n".join(one.read_text(encoding="utf-8") for one in folder.glob("[A-Z]*.graphql"))
    assert set(re.findall(r"^query (\w+)", stored, re.MULTILINE)) == DOCUMENTS.keys()
