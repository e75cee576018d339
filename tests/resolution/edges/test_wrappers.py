"""One wrapper stands in the place of many functions, and no path of dependencies mixes them up."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.analysis.impact import impact
from graphmem.analysis.impact_question import Question
from graphmem.analysis.paths import best_path
from graphmem.analysis.refs import resolve_ref
from graphmem.analysis.weights import STAND_INS
from graphmem.answers import IndexState
from graphmem.resolution.rules import RULES

STATE = IndexState("fresh", 1, "", 0, 0, 0, 0, 0)
DECORATORS = """
import functools
def helper(): ...
def plain(function):
    def wrapper(*args):
        helper()
        return function(*args)
    return wrapper
def named(label):
    def decorator(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args)
        return wrapper
    return decorator
class Counted:
    def __init__(self, function):
        self.function = function
    def __call__(self, *args):
        return self.function(*args)
"""
WRITTEN = {"plain": "@plain\n", "named": "@named('x')\n", "Counted": "@Counted\n", "": ""}
STANDS_IN = {"plain": "plain.wrapper", "named": "named.decorator.wrapper", "Counted": "Counted.__call__"}


def source_of(decorated):
    """Functions f0, f1, … that call c0, c1, … of their own, and g0, g1, … that call them."""
    text = DECORATORS
    for number, name in enumerate(decorated):
        text += f"def c{number}(): ...\n{WRITTEN[name]}def f{number}():\n    c{number}()\ndef g{number}():\n    f{number}()\n"
    return {"app.py": text}


def names(view, ref, **question):
    return {hit.symbol.qualname for hit in impact(view, resolve_ref(view, ref), Question(**question), STATE).hits}


@settings(max_examples=25)
@given(st.lists(st.sampled_from(sorted(WRITTEN)), min_size=2, max_size=6))
def test_impact_through_a_decorator_reaches_the_callers_of_the_decorated_function_and_of_no_other(graph_of, decorated):
    view = graph_of(source_of(decorated))
    for number, name in enumerate(decorated):
        wrapper = {STANDS_IN[name]} if name else set()
        found = names(view, f"app.py:c{number}", max_depth=50, min_confidence=0.01)
        assert {f"f{number}", f"g{number}"} <= found <= {f"f{number}", f"g{number}", "<module>"} | wrapper
        below = names(view, f"app.py:g{number}", direction="dependencies", max_depth=50, min_confidence=0.01)
        helper = {"helper"} if name == "plain" else set()
        assert {f"f{number}", f"c{number}"} | wrapper | helper == below


def test_what_the_wrapper_itself_needs_reaches_the_callers_of_all_it_stands_for(graph_of):
    view = graph_of(source_of(["plain", "plain", "named"]))
    assert {"plain.wrapper", "g0", "g1"} <= names(view, "app.py:helper", min_confidence=0.01)
    assert "g2" not in names(view, "app.py:helper", min_confidence=0.01)


def test_a_wrapper_depends_on_all_it_stands_for(graph_of):
    view = graph_of(source_of(["plain", "plain", ""]))
    assert names(view, "app.py:plain.wrapper", direction="dependencies") == {"helper", "f0", "f1", "c0", "c1"}


def test_no_path_goes_through_a_wrapper_to_another_function(graph_of):
    view = graph_of(source_of(["plain", "plain"]))

    def path(source, target):
        return [step.dst.qualname for step in best_path(view, resolve_ref(view, source), resolve_ref(view, target), STATE).steps]

    assert path("app.py:g0", "app.py:c0") == ["f0", "c0"]
    assert path("app.py:g0", "app.py:c1") == []
    assert path("app.py:plain.wrapper", "app.py:c1") == ["f1", "c1"]


def test_the_rules_a_walk_treats_so_are_rules_of_resolution():
    assert set(RULES) >= STAND_INS
