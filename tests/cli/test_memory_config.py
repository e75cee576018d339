"""`graphmem memory config` shows the presets and writes the chosen one into graphmem.toml."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphmem.errors import SettingsError
from graphmem.settings import load_settings, with_setting


def test_a_preset_is_shown_chosen_and_used(graphmem, tmp_path: Path) -> None:
    (tmp_path / "graphmem.toml").write_text('# ours\nembedder = "none"\n\n[limits]\ndepth = 10\n', encoding="utf-8")
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    assert graphmem("memory", "config", "aggressive", "--project", str(tmp_path)).code == 0
    assert (tmp_path / "graphmem.toml").read_text(encoding="utf-8") == (
        'promotion = "aggressive"\n# ours\nembedder = "none"\n\n[limits]\ndepth = 10\n'
    )
    shown = json.loads(graphmem("memory", "config", "--json", "--project", str(tmp_path)).out)
    assert [one["preset"] for one in shown if one["chosen"]] == ["aggressive"]
    refused = graphmem("memory", "config", "wild", "--project", str(tmp_path))
    assert (refused.code, "use one of conservative, balanced, aggressive" in refused.said) == (2, True)


def test_a_setting_is_written_into_its_place(tmp_path: Path) -> None:
    file = tmp_path / "graphmem.toml"
    with_setting(file, "promotion", "balanced")
    with_setting(file, "promotion", "conservative")
    assert file.read_text(encoding="utf-8") == 'promotion = "conservative"\n'
    assert load_settings(tmp_path).promotion == "conservative"
    file.write_text("promotion = [\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="by hand"):
        with_setting(file, "promotion", "balanced")
