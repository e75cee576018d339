"""Nobody sees a memory that the rules do not give, by any operation of any interface; and the check notices a missing protection."""

from __future__ import annotations

from hosted import hosted
from walls import WALLS, Walls


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
        walls.close()
