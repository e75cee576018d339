"""`graphmem check` holds a project to its own architecture rules."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

RULES = """
[[rule]]
name = "prices-know-no-carts"
from = "shop/price.py"
may_not_use = "shop/cart.py"
because = "prices are published on their own"

[[rule]]
name = "layers"
layers = ["shop/till.py", "shop/cart.py", "shop/price.py"]
"""


@pytest.fixture
def ruled(graphmem, shop: Path) -> Path:
    (shop / "shop" / "till.py").write_text("from shop.cart import checkout\n\n\ndef pay(cart):\n    return checkout(cart)\n")
    write(shop, RULES)
    assert graphmem("index", shop, "-q").code == 0
    return shop


def write(shop: Path, rules: str) -> None:
    (shop / ".graphmem").mkdir(exist_ok=True)
    (shop / ".graphmem" / "architecture.toml").write_text(rules)


def test_rules_with_a_byte_order_mark_are_read(graphmem, ruled: Path) -> None:
    (ruled / ".graphmem" / "architecture.toml").write_text(RULES, encoding="utf-8-sig")
    checked = graphmem("check", "-C", ruled)
    assert checked.code == 0, checked.said


def turn_around(graphmem, shop: Path) -> None:
    """Let the lowest file use the highest one."""
    price = shop / "shop" / "price.py"
    price.write_text(price.read_text() + "\n\ndef charge(cart):\n    from shop.till import pay\n\n    return pay(cart)\n")
    assert graphmem("index", shop, "-q").code == 0


def test_kept_rules_pass_and_a_new_dependency_fails_with_its_line(graphmem, ruled: Path) -> None:
    before = graphmem("check", "-C", ruled)
    assert before.code == 0, before.said
    assert before.out.count("kept") == 2
    turn_around(graphmem, ruled)
    after = graphmem("check", "-C", ruled)
    assert after.code == 1
    assert "shop/price.py → shop/till.py  layers" in after.out
    line = next(number for number, text in enumerate((ruled / "shop/price.py").read_text().splitlines(), 1) if "import pay" in text)
    assert f"shop/price.py:{line}" in after.out


def test_a_server_checks_the_rules_as_well(graphmem, serve, ruled: Path) -> None:
    server = serve(ruled).wait_until_it_answers()
    ran = graphmem("check", "-C", ruled)
    assert (ran.code, ran.out.count("kept")) == (0, 2), ran.said
    assert graphmem("check", "-C", ruled, "--update-baseline").code == 0
    server.stop(signal.SIGTERM)


def test_a_baseline_accepts_what_is_there_and_nothing_new(graphmem, ruled: Path) -> None:
    turn_around(graphmem, ruled)
    assert graphmem("check", "-C", ruled, "--update-baseline").code == 0
    baseline = ruled / ".graphmem" / "architecture-baseline.txt"
    assert baseline.read_text().splitlines()[1:] == ["layers: shop/price.py -> shop/till.py"]
    write(ruled, RULES + '\n[[rule]]\nname = "alone"\nfrom = "shop/till.py"\nmay_only_use = "shop/price.py"\n')
    found = json.loads(graphmem("check", "-C", ruled, "--json").out)
    assert [(one["rule"], one["dst"], one["accepted"]) for one in found["broken"]] == [
        ("alone", "shop/cart.py", False),
        ("layers", "shop/till.py", True),
    ]
    write(ruled, RULES.replace("layers = ", 'except = "shop/price.py -> shop/till.py"\nlayers = '))
    found = json.loads(graphmem("check", "-C", ruled, "--json").out)
    assert (found["total"], found["resolved"]) == (0, ["layers: shop/price.py -> shop/till.py"])


def test_git_sees_the_rules_and_not_the_index(graphmem, ruled: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=ruled, check=True)
    graphmem("check", "-C", ruled, "--update-baseline")
    ran = subprocess.run(
        ["git", "ls-files", "-o", "--exclude-standard", ".graphmem"], cwd=ruled, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == [".graphmem/architecture-baseline.txt", ".graphmem/architecture.toml"]
    subprocess.run(["git", "add", "-A"], cwd=ruled, check=True)
    assert graphmem("check", "-C", ruled).code == 0  # rules that git tracks are not another person's index


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("[[rule]", "are not TOML"),
        ("name = 'x'", "write a table [[rule]]"),
        ("[[rule]]\nfrom = 'a'\n", "none of the keys may_not_use, may_only_use and layers"),
        ("[[rule]]\nfrom = 'a'\nmay_not_use = 3\n", "give one path pattern"),
        ("[[rule]]\nform = 'a'\nmay_not_use = 'b'\n", "unknown key 'form'"),
        ("[[rule]]\nmay_not_use = 'b'\n", "has no key `from`, so it does not apply to any file"),
        ("[[rule]]\nlayers = ['a']\n", "two layers or more"),
    ],
)
def test_wrong_rules_are_refused_with_the_remedy(graphmem, ruled: Path, rules: str, said: str) -> None:
    write(ruled, rules)
    ran = graphmem("check", "-C", ruled)
    assert ran.code == 2
    assert said in ran.err


def test_a_pattern_without_files_and_missing_rules_are_said(graphmem, ruled: Path) -> None:
    write(ruled, RULES.replace("shop/till.py", "shop/counter.py"))
    assert "the pattern shop/counter.py matches no file" in graphmem("check", "-C", ruled).out
    (ruled / ".graphmem" / "architecture.toml").unlink()
    ran = graphmem("check", "-C", ruled)
    assert (ran.code, "does not exist" in ran.err) == (2, True)


def test_an_object_that_is_handed_over_does_not_name_the_file_of_its_class(graphmem, ruled: Path) -> None:
    """The lower layer calls a method of an object whose class is above it."""
    (ruled / "shop" / "till.py").write_text(
        "from shop.price import printed\n\n\nclass Till:\n    def show(self):\n        return 1\n\n\n"
        "def main():\n    return printed(Till())\n"
    )
    price = ruled / "shop" / "price.py"
    price.write_text(price.read_text() + "\n\ndef printed(where):\n    return where.show()\n")
    assert graphmem("index", ruled, "-q").code == 0
    assert graphmem("check", "-C", ruled).code == 0
