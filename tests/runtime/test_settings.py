"""Settings: which source wins, what is refused, and where an index lives."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmem.client import remote, sent_events
from graphmem.errors import SettingsError
from graphmem.hooks import entry
from graphmem.location import find_project, locate
from graphmem.settings import LEAST_BODY_KB, PROJECT_FILE, Limits, Settings, known_settings, load_settings


def test_each_source_wins_over_the_weaker_ones_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.graphmem]\nport = 1\nworkers = 1\nmax_file_kb = 11\nbuffer_pool_mb = 101\n")
    (tmp_path / PROJECT_FILE).write_text("port = 2\nworkers = 2\nmax_file_kb = 22\n")
    environ = {"GRAPHMEM_PORT": "3", "GRAPHMEM_WORKERS": "3", "PATH": "/bin"}

    settings = load_settings(tmp_path, environ, {"port": 4, "workers": None})

    assert (settings.port, settings.origin("port")) == (4, "--port")
    assert (settings.workers, settings.origin("workers")) == (3, "GRAPHMEM_WORKERS")
    assert (settings.max_file_kb, settings.origin("max_file_kb")) == (22, PROJECT_FILE)
    assert (settings.buffer_pool_mb, settings.origin("buffer_pool_mb")) == (101, "pyproject.toml")
    assert (settings.engine, settings.origin("engine")) == ("kuzu", "default")


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.graphmem]\nport = 1\n", encoding="utf-8-sig")
    (tmp_path / PROJECT_FILE).write_text("workers = 2\n", encoding="utf-8-sig")
    settings = load_settings(tmp_path, {}, {})
    assert (settings.port, settings.workers) == (1, 2)


def test_limits_are_a_table_in_files_and_one_word_in_the_environment(tmp_path: Path) -> None:
    (tmp_path / PROJECT_FILE).write_text("[limits]\ndepth = 5\n")
    settings = load_settings(tmp_path, {"GRAPHMEM_LIMITS_SECONDS": "7"}, {})
    assert (settings.limits.depth, settings.limits.seconds) == (5, 7)
    assert settings.origin("limits.depth") == PROJECT_FILE


@pytest.mark.parametrize(
    ("text", "environ", "words"),
    [
        ("prot = 1\n", {}, ["prot", "port", PROJECT_FILE]),
        ("", {"GRAPHMEM_WORKER": "1"}, ["GRAPHMEM_WORKERS"]),
        ("port = 70000\n", {}, ["port", "70000", "65535"]),
        ("", {"GRAPHMEM_PORT": "eighty"}, ["GRAPHMEM_PORT", "eighty", "whole number"]),
        ("engine = 'neo4j'\n", {}, ["engine", "kuzu", "ladybug"]),
        ("home = 'perhaps'\n", {}, ["home", "true or false"]),
        ("", {"GRAPHMEM_HOME": "/data"}, ["GRAPHMEM_HOME", "'/data'", "true or false"]),
        ("max_db_gb = 48\n", {}, ["max_db_gb", "power of two"]),
        ("port = true\n", {}, ["port", "whole number"]),
        ("[limits]\ndeth = 3\n", {}, ["limits.depth"]),
        ("[limits]\nbody_kb = 512\n", {}, ["limits.body_kb", "512", "1024"]),
        ("port 8420\n", {}, [PROJECT_FILE, "cannot be read"]),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_way_out(tmp_path: Path, text: str, environ: dict[str, str], words: list[str]) -> None:
    (tmp_path / PROJECT_FILE).write_text(text)
    with pytest.raises(SettingsError) as refusal:
        load_settings(tmp_path, environ)
    for word in words:
        assert word in refusal.value.message


@pytest.mark.parametrize("variable", ["GRAPHMEM_MODEL_KEYS", "GRAPHMEM_TOKN"])
def test_the_value_of_an_unknown_variable_is_not_shown(tmp_path: Path, variable: str) -> None:
    with pytest.raises(SettingsError) as refusal:
        load_settings(tmp_path, {variable: "hunter2"})
    assert "hunter2" not in f"{refusal.value.message} {refusal.value.facts}"


def test_a_file_that_travels_with_a_repository_cannot_hold_a_token_or_place_the_index_outside(tmp_path: Path) -> None:
    (tmp_path / PROJECT_FILE).write_text("token = 'hunter2'\n")
    settings = load_settings(tmp_path)
    assert settings.token == ""
    (said,) = settings.ignored
    assert "GRAPHMEM_TOKEN" in said
    assert "hunter2" not in said

    (tmp_path / "circle").symlink_to("circle")
    for outside in ("../elsewhere", "/tmp", ".", "a/../..", "circle/x/../../..", "\\u0000"):
        (tmp_path / PROJECT_FILE).write_text(f'db = "{outside}"\n')
        settings = load_settings(tmp_path)
        assert settings.db == ""
        assert "GRAPHMEM_DB" in settings.ignored[0]

    (tmp_path / PROJECT_FILE).write_text("db = 'var/index'\n")
    assert load_settings(tmp_path).db == str(tmp_path / "var" / "index")


@pytest.mark.parametrize(
    "line", ["model = './weights'", "reranker = 'weights'", "host = '0.0.0.0'", "model_url = 'https://example.org/v1'"]
)
@pytest.mark.parametrize("file", [PROJECT_FILE, "pyproject.toml"])
def test_a_repository_does_not_say_what_is_loaded_and_who_may_ask(tmp_path: Path, line: str, file: str) -> None:
    (tmp_path / file).write_text(f"[tool.graphmem]\n{line}\n" if file == "pyproject.toml" else f"{line}\n")
    settings = load_settings(tmp_path)
    assert settings == Settings()
    assert f"set GRAPHMEM_{line.partition(' ')[0].upper()} instead" in settings.ignored[0]


def test_a_broken_pyproject_is_left_to_its_own_tools(tmp_path: Path) -> None:
    for text in ("[tool.graphmem\n", "a = " + "[" * 100_000, "tool = 3\n", "a = " + "7" * 5000):
        (tmp_path / "pyproject.toml").write_text(text)
        assert load_settings(tmp_path) == Settings()
    (tmp_path / PROJECT_FILE).write_text("a = " + "[" * 100_000)
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(tmp_path)


def test_settings_made_by_hand_are_checked_too() -> None:
    with pytest.raises(SettingsError):
        Settings(port=-1)


def test_a_secret_is_never_shown() -> None:
    settings = load_settings(None, {"GRAPHMEM_TOKEN": "hunter2"})
    assert settings.token == "hunter2"
    assert "hunter2" not in str(settings.shown("token"))


def test_every_setting_has_a_description_and_a_variable_of_its_own() -> None:
    known = list(known_settings())
    assert all(item.doc for item in known)
    assert len({item.variable for item in known}) == len(known)


def test_the_least_server_accepts_the_largest_requests_of_hooks_and_clients() -> None:
    least = Limits(body_kb=LEAST_BODY_KB).body_kb * 1024
    assert least >= entry.MAX_BODY
    assert least >= sent_events.BATCH_BYTES
    assert least >= remote.LARGE_TEXT * 6


def test_the_project_is_the_nearest_index_then_the_nearest_git_then_here(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    assert find_project(deep) == tmp_path
    (tmp_path / "a" / ".graphmem").mkdir()
    assert find_project(deep) == tmp_path / "a"


def test_an_index_is_found_where_it_is_and_made_where_settings_say(tmp_path: Path) -> None:
    root, data = tmp_path / "project", tmp_path / "data"
    root.mkdir()
    environ = {"XDG_DATA_HOME": str(data)}

    assert locate(root, Settings(), environ).data_dir == root / ".graphmem"
    at_home = locate(root, Settings(home=True), environ)
    assert at_home.data_dir.is_relative_to(data)

    at_home.data_dir.mkdir(parents=True)
    assert locate(root, Settings(), environ).data_dir == at_home.data_dir
    (root / ".graphmem").mkdir()
    assert locate(root, Settings(), environ).data_dir == root / ".graphmem"


def test_a_database_named_by_its_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "graph.kuzu").write_bytes(b"")
    with pytest.raises(SettingsError, match="directory"):
        locate(None, load_settings(None, {}, {"db": str(tmp_path / "graph.kuzu")}))
