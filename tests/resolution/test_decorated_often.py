"""A wrapper calls all functions that its decorator replaces, however many there are."""

from __future__ import annotations

import pytest

from graphmem.parsing.extract import extract
from graphmem.resolution.files.call_sites import MAX_DECORATED
from graphmem.resolution.resolver import Resolver

DECORATORS = """\
class Task:
    def __init__(self, function):
        self.function = function

    def __call__(self, *args):
        return self.function(*args)


def timed(function):
    def wrapper(*args):
        return function(*args)

    return wrapper


def named(label):
    def decorator(function):
        def wrapper(*args):
            return function(*args)

        return wrapper

    return decorator
"""
LINES = {"Task": 6, "timed": 11, "named('x')": 19}
MANY = MAX_DECORATED + 5


def uses(decorator, count=MANY, called=MANY - 1):
    """Functions with a decorator; all but the last are called."""
    name = decorator.partition("(")[0]
    functions = "".join(f"@{decorator}\ndef f{number}(): ...\n" for number in range(count))
    calls = "".join(f"    f{number}()\n" for number in range(called))
    return f"from decorators import {name}\n{functions}def use():\n{calls}"


@pytest.mark.parametrize("decorator", LINES)
def test_each_replaced_function_that_code_calls_is_found(resolve, decorator):
    found = resolve({"decorators.py": DECORATORS, "uses.py": uses(decorator)})
    assert found.calls("decorators.py", LINES[decorator]) == {("uses.py", 3 + 2 * number): "wrapped" for number in range(MANY - 1)}


def test_after_edits_the_edges_are_those_of_a_fresh_start():
    sources = {"decorators.py": DECORATORS, "uses.py": uses("Task")}
    kept = Resolver("p")

    def facts_of(changed):
        return {path: extract(path, text.encode(), "python", str(hash(text))) for path, text in changed.items()}

    results = {path: kept.resolve(path).edges for path in sorted(kept.update(facts_of(sources), ()))}
    edits = [
        {"uses.py": uses("Task", MANY + 1, MANY)},
        {"more.py": "from decorators import Task\n@Task\ndef other(): ...\nother()\n"},
        {"calls.py": f"import uses\nuses.f{MANY}()\n"},
        {"uses.py": uses("Task", 3, 3)},  # now inference finds them
        {"uses.py": uses("timed")},
    ]
    for edit in edits:
        sources |= edit
        results |= {path: kept.resolve(path).edges for path in sorted(kept.update(facts_of(edit), ()))}
        fresh = Resolver("p")
        assert results == {path: fresh.resolve(path).edges for path in sorted(fresh.update(facts_of(sources), ()))}
