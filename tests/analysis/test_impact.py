"""Impact reports: dependents, tests, risk and completeness."""

from __future__ import annotations

import pytest

from graphmem.analysis.completeness import Runs
from graphmem.analysis.families import family_of
from graphmem.analysis.impact import impact
from graphmem.analysis.impact_question import Question
from graphmem.analysis.relations import sites
from graphmem.answers import IndexState
from graphmem.errors import BadInputError
from graphmem.parsing.language import languages

STATE = IndexState("fresh", 1, "", 0, 0, 0, 0, 0)


def ask(view, *refs, **bounds):
    from graphmem.analysis.refs import resolve_ref

    return impact(view, [node for ref in refs for node in resolve_ref(view, ref)], Question(**bounds), STATE)


def refs(hits):
    return [hit.symbol.ref for hit in hits]


def test_a_hit_keeps_depth_best_path_confidence_kinds_and_rules(graph):
    graph.edge("b.py:mid", "a.py:f", 0.9, rule="import").edge("c.py:top", "b.py:mid", 0.5, rule="unique_name")
    graph.edge("c.py:top", "a.py:f", 0.35, rule="value", lines="7,9")
    report = ask(graph.view(), "a.py:f")
    assert refs(report.hits) == ["b.py:mid", "c.py:top"]
    top = report.hits[1]
    assert top.depth == 1  # fewest steps: the direct call
    assert top.confidence == pytest.approx(0.45)  # but the better path has two
    assert [(step.src.ref, step.dst.ref, step.rule) for step in top.path] == [
        ("b.py:mid", "a.py:f", "import"),
        ("c.py:top", "b.py:mid", "unique_name"),
    ]
    assert report.epistemic == "lower_bound"


def test_tests_are_listed_apart_and_are_affected_not_broken(graph):
    graph.edge("b.py:mid", "a.py:f").edge("test_a.py:test_f", "b.py:mid")
    report = ask(graph.view(), "a.py:f")
    assert refs(report.hits) == ["b.py:mid"]
    assert refs(report.tests) == ["test_a.py:test_f"]
    assert report.tests[0].verdict == "affected"
    assert report.total == 2


def test_a_limit_leaves_half_of_the_places_to_tests_that_can_be_run(graph):
    graph.edge("b.py:mid", "a.py:f")
    for number in range(6):
        graph.edge(f"c{number}.py:far", "b.py:mid").edge(f"test_helpers.py:shared{number}", "a.py:f")
        graph.symbol("test_a.py", f"test_{number}", entry_point="test")
        graph.edge(f"test_a.py:test_{number}", f"c{number}.py:far")
    report = ask(graph.view(), "a.py:f", limit=8)
    assert len(report.hits) == 4
    assert [hit.symbol.is_runnable for hit in report.tests] == [True] * 4
    assert report.total == 19
    assert "6 tests affected" in report.risk.reasons


def test_the_module_of_a_conftest_is_not_a_test_to_run(graph):
    graph.symbol("tests/conftest.py", "<module>", "module")
    graph.symbol("tests/test_a.py", "<module>", "module")
    graph.edge("tests/conftest.py:<module>", "a.py:f").edge("tests/test_a.py:<module>", "a.py:f")
    report = ask(graph.view(), "a.py:f")
    assert {hit.symbol.path: hit.symbol.is_runnable for hit in report.tests} == {"tests/conftest.py": False, "tests/test_a.py": True}
    assert "1 test affected" in report.risk.reasons


def test_verdicts_follow_depth(graph):
    graph.edge("b.py:one", "a.py:f").edge("c.py:two", "b.py:one").edge("d.py:three", "c.py:two").edge("e.py:four", "d.py:three")
    report = ask(graph.view(), "a.py:f")
    assert [hit.verdict for hit in report.hits] == ["will break", "likely", "possible", "possible"]
    assert report.by_depth == [1, 1, 1, 1]


def test_dependencies_are_the_other_direction(graph):
    graph.edge("b.py:mid", "a.py:f").edge("c.py:top", "b.py:mid")
    assert refs(ask(graph.view(), "c.py:top", direction="dependencies").hits) == ["b.py:mid", "a.py:f"]


def test_a_class_is_its_members_too(graph):
    graph.symbol("a.py", "C", "class")
    graph.symbol("a.py", "C.m", "method", parent_id=graph.id("a.py:C"))
    graph.edge("a.py:C", "a.py:C.m", kind="DEFINES", rule="definition", lines="").edge("b.py:user", "a.py:C.m")
    assert refs(ask(graph.view(), "C").hits) == ["b.py:user"]


def test_a_site_that_calls_the_name_unresolved_is_possible_and_makes_the_answer_a_lower_bound(graph):
    graph.symbol("a.py", "f")
    graph.missed("b.py:who", "f", 12)
    report = ask(graph.view(), "a.py:f")
    assert report.hits == []
    assert report.epistemic == "unknown"
    assert report.risk.level == "unknown"
    assert [(one.caller.ref, one.line) for one in report.possible] == [("b.py:who", 12)]
    assert report.causes[0].kind == "unresolved_calls"
    graph.edge("c.py:sure", "a.py:f")
    assert ask(graph.view(), "a.py:f").epistemic == "lower_bound"


def test_the_budget_cuts_the_list_and_says_so_but_not_the_totals(graph):
    for number in range(30):
        graph.edge(f"m{number:02}.py:g", "a.py:f")
    report = ask(graph.view(), "a.py:f", limit=10)
    assert len(report.hits) == 10
    assert report.truncated
    assert report.total == 30
    assert report.by_depth == [30]
    assert sum(group.hits for group in report.by_file) == 30
    assert [cause.count for cause in report.causes if cause.kind == "budget"] == [20]


def test_hits_are_grouped_by_file_and_directory(graph):
    graph.edge("x/a.py:g", "a.py:f").edge("x/a.py:h", "a.py:f", 0.5).edge("y/b.py:k", "x/a.py:g")
    report = ask(graph.view(), "a.py:f")
    assert [(group.name, group.hits, group.min_depth) for group in report.by_module] == [("x", 2, 1), ("y", 1, 2)]
    assert report.by_file[0].name == "x/a.py"


@pytest.mark.parametrize(
    "bounds",
    [
        {"max_depth": 0},
        {"max_depth": 51},
        {"min_confidence": 0},
        {"min_confidence": 1.1},
        {"limit": 0},
        {"direction": "up"},
        {"kinds": ("NOPE",)},
        {"kinds": ()},
    ],
)
def test_a_bound_out_of_range_is_refused_with_what_is_allowed(bounds):
    with pytest.raises(BadInputError, match="; use"):
        Question(**bounds)


def test_kinds_limit_the_walk(graph):
    graph.edge("b.py:caller", "a.py:f").edge("c.py:sub", "a.py:f", kind="REFERENCES")
    assert refs(ask(graph.view(), "a.py:f", kinds=("REFERENCES",)).hits) == ["c.py:sub"]


def test_risk_grows_with_dependents_and_missing_tests(graph):
    graph.symbol("a.py", "lonely")
    for number in range(40):
        graph.edge(f"d{number}/m.py:g", "a.py:busy")
    view = graph.view()
    assert ask(view, "a.py:lonely").risk.level == "unknown"
    assert ask(view, "a.py:busy").risk.level in ("high", "critical")


def test_what_the_confidence_floor_hides_is_counted_and_makes_the_answer_a_lower_bound(graph):
    graph.edge("b.py:sure", "a.py:f", 0.9).edge("c.py:guess", "a.py:f", 0.1, rule="ambiguous_name").edge("d.py:beyond", "c.py:guess")
    report = ask(graph.view(), "a.py:f", min_confidence=0.3)
    assert refs(report.hits) == ["b.py:sure"]
    assert [(cause.kind, cause.count, cause.examples) for cause in report.causes] == [("low_confidence", 1, ["c.py:guess"])]
    assert report.epistemic == "lower_bound"
    assert ask(graph.view(), "a.py:f", min_confidence=0.05).causes == []


def possible_of(report):
    return [(one.caller.ref, one.name, one.line) for one in report.possible]


def test_a_class_and_a_file_count_the_unresolved_calls_of_what_they_consist_of(graph):
    graph.symbol("a.py", "C", "class")
    graph.symbol("a.py", "C.m", "method", parent_id=graph.id("a.py:C"))
    graph.edge("a.py:C", "a.py:C.m", kind="DEFINES", rule="definition", lines="").edge("b.py:user", "a.py:C.m")
    graph.missed("c.py:who", "m", 12)
    of_method, of_class, of_file = (ask(graph.view(), ref) for ref in ("C.m", "C", "a.py"))
    assert possible_of(of_method) == [("c.py:who", "m", 12)]
    assert possible_of(of_class) == possible_of(of_file) == possible_of(of_method)
    assert {report.epistemic for report in (of_method, of_class, of_file)} == {"lower_bound"}


def test_a_site_in_a_language_that_cannot_name_the_target_is_not_possible(graph):
    graph.edge("b.py:user", "a.py:f")
    graph.written_in("x.js", "javascript")
    graph.missed("x.js:who", "f", 3)
    assert ask(graph.view(), "a.py:f").causes == []


@pytest.mark.parametrize(("path", "language"), [("run.sh", "bash"), ("notes.txt", "text"), ("lib.go", "go"), ("App.kt", "kotlin")])
def test_a_broken_file_of_a_language_that_cannot_name_the_target_is_not_a_cause(graph, path, language):
    graph.edge("b.py:user", "a.py:f")
    graph.written_in(path, language, errors=3)
    report = ask(graph.view(), "a.py:f")
    assert report.causes == []


@pytest.mark.parametrize(
    ("target", "broken", "language", "home"),
    [
        ("a.py:f", "b.py", "python", "python"),
        ("a.ts:f", "b.js", "javascript", "typescript"),
        ("a.c:f", "b.cpp", "cpp", "c"),
        ("A.java:f", "B.kt", "kotlin", "java"),
    ],
)
def test_a_broken_file_of_a_language_that_can_name_the_target_makes_the_answer_a_lower_bound(graph, target, broken, language, home):
    graph.written_in(target.partition(":")[0], home)
    graph.written_in(broken, language, errors=3)
    graph.edge("c.py:user", target)
    report = ask(graph.view(), target)
    assert ("failed_files", 1, [broken]) in [(cause.kind, cause.count, cause.examples) for cause in report.causes]
    assert report.epistemic == "lower_bound"
    by_file = ask(graph.view(), target.partition(":")[0])
    assert {cause.kind for cause in by_file.causes} == {"failed_files"}


def test_languages_that_are_resolved_by_the_same_rules_are_one_family():
    """`scoped` serves many languages that have nothing in common; those that have say so by a group."""
    known = languages()
    for one in known.values():
        for other in known.values():
            same_rules = one.rules == other.rules != "scoped"
            same_group = one.resolution.get("group", one.name) == other.resolution.get("group", other.name)
            if same_rules or same_group:
                assert family_of(one.name) == family_of(other.name), (one.name, other.name)
    assert len({family_of(name) for name in known}) == len(known) - 5


TEST = {"entry_point": "test", "is_test": True}


def chain(graph, steps):
    """`a.py:f` and a line of callers that ends at a test so many steps away."""
    before = "a.py:f"
    for number in range(steps - 1):
        graph.edge(f"m{number}.py:g{number}", before, 0.95)
        before = f"m{number}.py:g{number}"
    graph.symbol("test_a.py", "test_far", **TEST)
    graph.edge("test_a.py:test_far", before, 0.95)


def test_tests_are_found_at_any_depth_and_dependents_within_the_depth(graph):
    chain(graph, 9)
    report = ask(graph.view(), "a.py:f", max_depth=2)
    assert [hit.depth for hit in report.hits] == [1, 2]
    assert [(hit.symbol.ref, hit.depth, len(hit.path)) for hit in report.tests] == [("test_a.py:test_far", 9, 9)]
    assert [(cause.kind, cause.count) for cause in report.causes] == [("depth", 6)]


def test_the_confidence_of_a_test_is_a_chance_that_falls_with_the_length_of_its_path(graph):
    chain(graph, 2)
    graph.symbol("test_b.py", "test_near", **TEST)
    graph.edge("test_b.py:test_near", "a.py:f", 0.95)
    graph.symbol("test_c.py", "test_other", **TEST)
    near, far = ask(graph.view(), "a.py:f").tests
    assert (near.symbol.name, far.symbol.name) == ("test_near", "test_far")
    assert 0 < far.confidence < near.confidence < 1


def test_text_alone_is_never_exact_and_states_the_chance_of_a_miss(graph):
    graph.symbol("a.py", "alone")
    graph.symbol("a.py", "started", entry_point="main")
    graph.symbol("test_b.py", "test_used", **TEST)
    for number in range(20):
        graph.edge(f"m{number}.py:g", "a.py:used", 0.95)
        graph.edge("test_b.py:test_used", f"m{number}.py:g", 0.95)
    alone, started, used = (ask(graph.view(), f"a.py:{name}") for name in ("alone", "started", "used"))
    assert [report.epistemic for report in (alone, started, used)] == ["unknown", "lower_bound", "lower_bound"]
    assert 0 < used.miss_chance < alone.miss_chance <= 1
    assert ask(graph.view(), "a.py:used", direction="dependencies").miss_chance is None


def test_the_chance_of_a_miss_is_higher_in_a_project_whose_functions_a_framework_calls(graph):
    graph.edge("test_a.py:test_used", "a.py:used", 0.95)
    graph.symbol("test_a.py", "test_used", **TEST)
    without = ask(graph.view(), "a.py:used").miss_chance
    graph.symbol("forms.py", "Form", kind="class")
    graph.edge("forms.py:Form", "forms.py:Form.clean", 0.95, rule="hook")
    assert ask(graph.view(), "a.py:used").miss_chance > without + 0.2


def test_the_chance_of_a_miss_is_higher_in_a_project_with_functions_that_no_test_reaches(graph):
    graph.edge("test_a.py:test_used", "a.py:used", 0.95)
    graph.symbol("test_a.py", "test_used", **TEST)
    without = ask(graph.view(), "a.py:used").miss_chance
    for number in range(9):
        graph.symbol("apart.py", f"apart{number}")
    assert ask(graph.view(), "a.py:used").miss_chance > without + 0.1


@pytest.fixture
def judged(graph):
    """A function, a test that ran it, and a test that did not though its text leads there."""
    for name in ("test_ran", "test_not"):
        graph.symbol("test_a.py", name, **TEST)
        graph.edge(f"test_a.py:{name}", "a.py:f", 0.95)
    graph.edge("test_a.py:test_ran", "a.py:f", 1.0, kind="TESTS", rule="runtime", source="runtime", lines="")
    return graph


def after_a_run(graph, *names, met=()):
    from graphmem.analysis.refs import resolve_ref

    view = graph.view()
    ids = [graph.id(f"test_a.py:{name}") for name in names]
    runs = Runs(frozenset(ids), frozenset([*ids, *(graph.id(f"test_a.py:{name}") for name in met)]))
    return impact(view, list(resolve_ref(view, "a.py:f")), Question(), STATE, runs)


def test_tests_are_exact_when_a_run_judged_all_of_them(judged):
    report = after_a_run(judged, "test_ran", "test_not")
    assert (refs(report.tests), report.epistemic) == (["test_a.py:test_ran"], "exact")
    assert report.tests[0].confidence == 1
    assert report.miss_chance < 0.02


def test_what_is_written_in_a_judged_test_is_judged_with_it(judged):
    judged.symbol("test_a.py", "test_not.inner", parent_id=judged.id("test_a.py:test_not"), is_test=True)
    judged.edge("test_a.py:test_not.inner", "a.py:f", 0.95)
    assert refs(after_a_run(judged, "test_ran", "test_not").tests) == ["test_a.py:test_ran"]


def test_a_name_does_not_keep_a_test_that_a_run_refuted(judged):
    judged.edge("test_a.py:test_not", "a.py:f", 0.95, kind="TESTS", rule="named_test")
    assert refs(after_a_run(judged, "test_ran", "test_not").tests) == ["test_a.py:test_ran"]


def test_a_test_about_the_target_comes_before_others(graph):
    for name, confidence in (("test_all", 0.95), ("test_total", 0.88)):
        graph.symbol("test_cart.py", name, **TEST)
        graph.edge(f"test_cart.py:{name}", "cart.py:total", confidence)
    graph.edge("test_cart.py:test_total", "cart.py:total", 0.88, kind="TESTS", rule="named_test")
    assert [hit.symbol.name for hit in ask(graph.view(), "cart.py:total").tests] == ["test_total", "test_all"]


def test_a_test_with_the_name_of_the_target_has_a_higher_chance_at_the_same_distance(graph):
    for path, name in (("test_other.py", "test_all"), ("test_cart.py", "test_no_total")):
        graph.symbol(path, name, **TEST)
        graph.edge(f"{path}:{name}", "cart.py:total", 0.95)
    first, second = ask(graph.view(), "cart.py:total").tests
    assert (first.symbol.name, second.symbol.name) == ("test_no_total", "test_all")
    assert second.confidence < first.confidence < 1


def test_tests_about_a_symbol_are_listed_before_others_and_once(graph):
    for name in ("test_all", "test_f"):
        graph.symbol("test_a.py", name, **TEST)
        graph.edge(f"test_a.py:{name}", "a.py:f", 0.95)
    graph.edge("test_a.py:test_f", "a.py:f", 0.88, kind="TESTS", rule="named_test")
    view = graph.view()
    found = sites(view, view.index_of[graph.id("a.py:f")], "tests", 10)
    assert [(one.symbol.name, one.kind) for one in found] == [("test_f", "TESTS"), ("test_all", "CALLS")]


def test_a_test_without_a_run_that_leads_near_the_target_keeps_the_answer_from_being_exact(judged):
    judged.symbol("test_a.py", "test_new", **TEST)
    judged.edge("test_a.py:test_new", "a.py:beside", 0.95)
    report = after_a_run(judged, "test_ran", "test_not")
    assert report.epistemic == "lower_bound"
    assert [(cause.kind, cause.count) for cause in report.causes] == [("not_run", 1), ("unjudged_tests", 1)]
    assert after_a_run(judged, "test_ran", "test_not", met=["test_new"]).epistemic == "exact"


def test_a_test_that_leads_nowhere_near_the_target_does_not_matter(judged):
    judged.symbol("test_a.py", "test_else", **TEST)
    judged.edge("test_a.py:test_else", "z.py:other", 0.95)
    assert after_a_run(judged, "test_ran", "test_not").epistemic == "exact"


def test_code_nested_in_a_test_is_reported_as_the_test(graph):
    for name, parent, entry in [("test_one", "", "test"), ("test_one.inner", "test_one", ""), ("test_one.other", "test_one", "")]:
        graph.symbol("test_a.py", name, parent_id=parent and graph.id(f"test_a.py:{parent}"), entry_point=entry)
    graph.symbol("test_a.py", "helper")
    graph.edge("test_a.py:test_one.inner", "a.py:f", 0.5)
    graph.edge("test_a.py:test_one.other", "a.py:f", 0.9)
    graph.edge("test_a.py:helper", "a.py:f", 0.9)
    report = ask(graph.view(), "a.py:f")
    tests = {hit.symbol.qualname: hit for hit in report.tests}
    assert "test_one" in tests
    assert not {"test_one.inner", "test_one.other"} & set(tests)
    assert tests["test_one"].path[-1].src.qualname == "test_one.other", "the path still leads through the nested function"
    assert report.total == len(report.hits) + len(report.tests)


def test_the_rank_of_a_symbol_does_not_depend_on_the_bounds_of_the_question(graph):
    graph.edge("b.py:one", "a.py:f", 0.9).edge("b.py:two", "a.py:f", 0.5).edge("test_a.py:test_f", "a.py:g", 0.9)
    graph.edge("b.py:one", "a.py:g", 0.9).edge("b.py:faint", "a.py:h", 0.1)
    view = graph.view()
    # Direct dependents, tests excluded: f 2, g 1; h, one, two and faint 0.
    for bounds in ({}, {"min_confidence": 0.8}, {"min_confidence": 0.05}, {"max_depth": 1}):
        shares = {name: ask(view, f"a.py:{name}", **bounds).risk.rank for name in "fg"}
        assert shares == {"f": pytest.approx(5 / 6, abs=1e-4), "g": pytest.approx(4 / 6, abs=1e-4)}
    assert ask(view, "a.py:f", "a.py:g").risk.rank is None
    assert ask(view, "test_a.py:test_f").risk.rank is None
