"""Command lines are split at the operators of the shell, and not at the same signs in quotes."""

from __future__ import annotations

import pytest

from graphmem.observe.commands.shell import command_of, program_of


@pytest.mark.parametrize(
    ("line", "action", "label"),
    [
        ('git commit -m "fix; rm old.py"', "run", "git commit"),
        ("git commit -m 'drop a && pytest'", "run", "git commit"),
        ('git commit -m "one\nrm old.py"', "run", "git commit"),
        ('psql -c "select 1 > 0"', "run", "psql"),
        ("bash -c 'cd src && pytest -q'", "test", "pytest"),
        ("ls; pytest -q", "test", "pytest"),
        (r"find . -name a\;b", "list", "find"),
        ("python -m tornado.test", "test", "tornado.test"),
        ("python3 -m tornado.test.runtests web_test", "test", "tornado.test.runtests"),
        ("python tests/run_tests.py -v", "test", "run_tests.py"),
        ("poe test tests/a.py", "test", "poe"),
        ("uv run --extra dev pytest -q", "test", "pytest"),
        ("inv unit-test", "test", "inv"),
        ("make latest", "run", "make latest"),
        ("turbo run build", "run", "turbo"),
        ("npx nx run web:test", "test", "nx"),
        ("pnpm --filter web test", "test", "pnpm web"),
        ("yarn workspace web build", "run", "yarn workspace"),
        ("npm -w web run test:unit", "test", "npm web"),
        ("python -m latest", "run", "latest"),
    ],
)
def test_signs_in_quotes_separate_nothing(line, action, label):
    found = command_of(line)
    assert (found.action, found.label) == (action, label)


def test_a_pattern_keeps_its_signs():
    found = command_of('grep "load|save" src/x.py > "found; all.txt"')
    assert (found.action, found.pattern, found.folders) == ("search", "load|save", ("src/x.py",))
    assert command_of('echo "a > b.py"').paths == ()


def test_programs_in_quotes_are_not_run():
    assert program_of('git commit -m "fix; curl x" && pytest') == "git commit && pytest"
