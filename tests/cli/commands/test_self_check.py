"""`graphmem self-check` tries a real installation, and says which part of a broken one fails."""

from __future__ import annotations

import json

import pytest

from graphmem.cli.commands import self_check


def test_a_whole_installation_passes(graphmem) -> None:
    ran = graphmem("self-check", "--json")
    assert ran.code == 0, ran.said
    found = json.loads(ran.out)
    assert found["ok"] is True
    assert [one["part"] for one in found["parts"]] == ["index", "impact", "memory", "model", "extras"]


def test_a_part_that_fails_is_named(graphmem, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = dict(self_check.SAMPLES) | {"a.go": "package a\n\nfunc inner() int { return 1 }\n"}
    monkeypatch.setattr(self_check, "SAMPLES", broken)
    ran = graphmem("self-check")
    assert ran.code == 1
    assert "failed  impact" in ran.out
    assert "the self-check did not find a call in its sample files a.go" in ran.out
    assert "ok      memory" in ran.out
