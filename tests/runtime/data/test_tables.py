"""Tables of `grammars/` are read into dataclasses, and each mistake is named with its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from graphmem.errors import GrammarError
from graphmem.runtime.data import resources, tables
from graphmem.runtime.data.tables import has_table, read_table


@dataclass(frozen=True)
class Shop:
    """A table for these tests."""

    name: str
    open: bool = False
    goods: tuple[str, ...] = ()
    colours: frozenset[str] = frozenset()
    prices: Mapping[str, frozenset[str]] = None  # type: ignore[assignment]


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "data_root", lambda: tmp_path)
    (tmp_path / "grammars").mkdir()

    def read(text: str) -> Shop:
        (tmp_path / "grammars" / "shop.toml").write_text(text)
        return read_table("shop.toml", Shop)

    return read


def test_values_get_the_types_of_the_fields(read):
    found = read('name = "a"\nopen = true\ngoods = ["y", "x"]\ncolours = ["red"]\n[prices]\nlow = ["x"]\n')
    assert found == Shop("a", True, ("y", "x"), frozenset({"red"}), {"low": frozenset({"x"})})


def test_a_list_may_be_the_words_of_one_string(read):
    assert read('name = "a b"\ngoods = "y x"\ncolours = """\nred\nblue\n"""').goods == ("y", "x")
    with pytest.raises(GrammarError, match="without repeats"):
        read('name = "a"\ncolours = "red red"')


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("open = true", "lacks the keys name"),
        ('name = "a"\nshut = true', "has the unknown keys shut; use colours, goods, name, open, prices"),
        ("name = 1", "has a wrong value for name; use a string"),
        ('name = "a"\nopen = "yes"', "has a wrong value for open; use true or false"),
        ('name = "a"\ngoods = true', "has a wrong value for goods; use a list of strings"),
        ('name = "a"\ngoods = ["x", 1]', "has a wrong value for goods; use a list of strings"),
        ('name = "a"\ncolours = ["x", "x"]', "has a wrong value for colours; use a list of strings without repeats"),
        ('name = "a"\nprices = ["x"]', "has a wrong value for prices; use a table"),
        ("name", "Expected '='"),
    ],
)
def test_a_mistake_is_named_with_its_file(read, text, error):
    with pytest.raises(GrammarError, match=error) as caught:
        read(text)
    assert str(caught.value).startswith("grammars/shop.toml")


def test_a_file_that_is_missing_is_an_error_only_when_it_is_read(read):
    assert not has_table("other.toml")
    with pytest.raises(GrammarError, match=r"grammars/other\.toml"):
        read_table("other.toml", Shop)


def test_a_table_of_a_newer_version_asks_for_a_restart(tmp_path, monkeypatch):
    (tmp_path / "queries").mkdir()
    (tmp_path / "grammars").mkdir()
    monkeypatch.setattr(resources, "data_root", lambda: tmp_path)
    monkeypatch.setattr(tables, "data_root", lambda: tmp_path)
    (tmp_path / "grammars" / "shop.toml").write_text('name = "a"\nfuture = true\n')
    with pytest.raises(GrammarError, match=r"updated while this process runs.*\(.*unknown keys future\); restart graphmem"):
        read_table("shop.toml", Shop)
