"""Lines of a string are those of git and of the grammars."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from graphmem.parsing.contracts.schemas import schema_ends
from graphmem.runtime.texts.lines import lines_of

ODD = "one\f\ntwo\x0b\x1c\u2028\u2029\x85\r\n\rthree\r\r\n\n\nfour"


@pytest.mark.parametrize("text", [ODD, ODD + "\n", ODD + "\r\n", "", "\n", "a", "\r"])
def test_git_counts_the_same_lines(tmp_path: Path, text: str) -> None:
    (tmp_path / "odd").write_bytes(text.encode())
    command = ("git", "-c", "core.autocrlf=false", "diff", "--no-index", "--numstat", "--", "/dev/null", str(tmp_path / "odd"))
    counted = subprocess.run(command, capture_output=True, check=False).stdout.split(b"\t")[0]
    assert len(lines_of(text)) == int(counted or 0)


def test_no_line_has_its_ending() -> None:
    assert lines_of("a\r\nb\n\nc\r") == ["a", "b", "", "c"]


def test_the_place_of_a_route_in_a_description_is_its_line() -> None:
    text = 'openapi: 3.0.0\ninfo:\n  title: "Shop \u2028 carts"\npaths:\n  /carts:\n    get:\n      summary: all\n'
    ends = list(schema_ends("openapi.yaml", text.encode()))
    assert [(one[2], one[4]) for one in ends] == [("GET /carts", 6)]


def test_routes_of_openapi_stand_beside_a_number_of_any_length():
    text = f'{{"openapi": "3.0.0", "paths": {{"/cart": {{"get": {{}}}}}}, "size": {"7" * 5000}}}'
    assert [one[2] for one in schema_ends("openapi.json", text.encode())] == ["GET /cart"]


def test_an_openapi_document_that_is_nested_too_deeply_declares_nothing():
    assert list(schema_ends("openapi.json", ('{"openapi": "3.0.0", "paths": ' + "[" * 100_000).encode())) == []
