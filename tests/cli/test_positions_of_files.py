"""A position is accepted as compilers and `grep -n` print it, wherever a command takes a file."""

from __future__ import annotations

import pytest

from commands import Run


@pytest.mark.parametrize(
    ("arguments", "symbol"),
    [
        ("symbol-at shop/cart.py:11", "shop/cart.py:Cart.total"),
        ("symbol-at shop/cart.py:11:", "shop/cart.py:Cart.total"),
        ("symbol-at shop/cart.py 11", "shop/cart.py:Cart.total"),
        ("symbol-at shop/cart.py:9:27", "shop/price.py:Price"),
        ("symbol-at shop/cart.py:9:27:", "shop/price.py:Price"),
        ("symbol-at shop/cart.py 9 27", "shop/price.py:Price"),
        ("symbol-at shop/cart.py:16", "shop/cart.py:Cart.total"),
        ("symbol-at shop/cart.py:9:27 --json", '"path": "shop/price.py"'),
    ],
)
def test_the_symbol_at_a_position(graphmem: Run, indexed, arguments: str, symbol: str) -> None:
    assert symbol in graphmem(*arguments.split(), cwd=indexed).out


def test_a_file_without_a_line_is_refused_with_the_form_to_write(graphmem: Run, indexed) -> None:
    ran = graphmem("symbol-at", "shop/cart.py", cwd=indexed)
    assert ran.code == 2
    assert "the line number is missing; write path:line" in ran.said


@pytest.mark.parametrize("command", ["occurrences", "reviewers", "coaccess"])
def test_commands_about_files_ignore_the_position(graphmem: Run, indexed, command: str) -> None:
    plain = graphmem(command, "shop/cart.py", cwd=indexed)
    assert plain.code == 0
    assert graphmem(command, "shop/cart.py:11:4", cwd=indexed).out == plain.out


def test_a_memory_about_a_line_is_about_its_file(graphmem: Run, shop) -> None:
    assert graphmem("index", cwd=shop).code == 0
    assert graphmem("remember", "Carts are never emptied.", "--file", "shop/cart.py:11", cwd=shop).code == 0
    assert "Carts are never emptied" in graphmem("memory", "list", "--file", "shop/cart.py:4:2", cwd=shop).out
