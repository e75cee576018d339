"""Recording by `pytest --graphmem`, each time on tests that really run."""

from __future__ import annotations

import importlib.util
import sys
import zlib

import pytest

from graphmem.errors import EvidenceError
from graphmem.evidence import trace
from graphmem.evidence.observations import OTHER_PROCESS


def test_a_test_is_joined_to_every_function_it_ran_and_to_no_other(shop, record):
    seen, ran = record(shop)
    assert ran.code == 0, ran.said
    assert seen["TESTS", "test_empty"] == {"checkout", "hold", "Cart.__init__", "Cart.total", "Cart.each", "rounded"}
    assert seen["TESTS", "TestCart.test_total"] == {"Cart.__init__", "Cart.add", "Cart.total", "Cart.each", "rounded"}
    assert not any("never" in reached for reached in seen.values())
    assert not any("round" in reached or "print" in reached for reached in seen.values()), "only code under the root counts"


def test_callers_are_joined_to_whom_they_called_also_through_tables_properties_and_generators(shop, record):
    seen, _ = record(shop)
    assert seen["CALLS", "checkout"] == {"pay", "hold", "Cart.total"}
    assert seen["CALLS", "Cart.total"] == {"rounded", "Cart.each"}
    assert seen["CALLS", "test_sorted"] == {"rounded"}, "a lambda is part of the function it is written in"


def test_what_a_shared_fixture_runs_before_and_after_belongs_to_every_test_that_uses_it(shop, record):
    seen, _ = record(shop)
    for name in ("test_shared_first", "test_shared_second"):
        assert seen["TESTS", name] == {"shared", "Cart.__init__", "Cart.add", "Cart.close"}
    assert "Cart.close" not in seen["TESTS", "test_empty"]


def test_threads_belong_to_the_test_that_started_them(shop, record):
    seen, _ = record(shop)
    assert {"in_thread", "pay", "Cart.total"} <= seen["TESTS", "test_thread"]
    assert seen["CALLS", "test_thread"] >= {"in_thread", "pay", "Cart.__init__"}


def test_parameter_sets_of_a_test_are_one_test(shop, record):
    seen, _ = record(shop)
    assert {"pay", "checkout", "Cart.add"} <= seen["TESTS", "test_paid"]


def runs(path):
    return {one.subject.qualname: one.runs for one in trace.read(path).observations if one.kind == "TESTS"}


def test_a_test_is_known_in_full_only_when_all_of_it_ran_and_passed(shop, record):
    tests = shop / "tests" / "test_shop.py"
    more = "\n\ndef test_fails():\n    assert checkout(Cart()) == 1\n\n\ndef test_skips():\n    Cart()\n    pytest.skip('later')\n"
    tests.write_text(tests.read_text(encoding="utf-8") + more, encoding="utf-8")
    seen, ran = record(shop, "-k", "not paid[1]")
    assert ran.code == 1
    known = runs(shop.parent / "run.trace")
    assert known["test_empty"] == 1
    assert known["test_fails"] == known["test_skips"] == known["test_paid"] == 0
    assert "checkout" in seen["TESTS", "test_fails"], "what it ran until then is true all the same"
    record(shop)
    assert runs(shop.parent / "run.trace")["test_paid"] == 2


HEIRS = """

class TestOne:
    price = 1

    def test_priced(self):
        assert checkout(Cart().add(self.price)) == self.price


class TestNone(TestOne):
    price = 0


class CaseOne(unittest.TestCase):
    price = 1

    def test_unit(self):
        assert checkout(Cart().add(self.price)) == self.price


class CaseNone(CaseOne):
    price = 0
"""


def test_a_test_is_known_in_part_if_node_ids_chose_some_of_its_parameters_or_classes(shop, record):
    tests = shop / "tests" / "test_shop.py"
    tests.write_text("import unittest\n" + tests.read_text(encoding="utf-8") + HEIRS, encoding="utf-8")
    one = "tests/test_shop.py::"
    _, ran = record(shop, f"{one}test_paid[1]", f"{one}test_empty", f"{one}TestOne", f"{one}CaseOne::test_unit")
    assert ran.code == 0, ran.said
    known = runs(shop.parent / "run.trace")
    assert known == {"test_empty": 1, "test_paid": 0, "TestOne.test_priced": 0, "CaseOne.test_unit": 0}
    record(shop, f"{one}test_paid", f"{one}TestOne", f"{one}TestNone", f"{one}CaseOne", f"{one}CaseNone")
    assert runs(shop.parent / "run.trace") == {"test_paid": 2, "TestOne.test_priced": 2, "CaseOne.test_unit": 2}


def test_a_test_is_known_in_part_if_the_run_stopped_before_all_of_its_parameters(shop, record):
    (shop / "tests" / "test_stopped.py").write_text(
        "import pytest\nfrom shop import Cart\n\n\n"
        "@pytest.fixture(scope='module', params=[1, 2])\ndef price(request):\n    return request.param\n\n\n"
        "def test_early(price):\n    Cart().add(price)\n\n\n"
        "def test_fails(price):\n    assert not price\n",
        encoding="utf-8",
    )
    _, ran = record(shop, "-x", "tests/test_stopped.py")
    assert "1 failed, 1 passed" in ran.said
    assert runs(shop.parent / "run.trace") == {"test_early": 0, "test_fails": 0}


@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_a_test_is_known_in_part_if_the_worker_that_ran_the_rest_of_it_was_lost(shop, record):
    (shop / "tests" / "test_lost.py").write_text(
        "import os\nimport pytest\nfrom shop import Cart\n\n\n"
        "@pytest.mark.parametrize('price', [1, 2, 3, 4])\ndef test_ends(price):\n    Cart().add(price)\n"
        "    if price == 2:\n        os._exit(1)\n",
        encoding="utf-8",
    )
    _, ran = record(shop, "-n", "2", "tests/test_lost.py", plugins=("graphmem.pytest_plugin", "xdist"))
    assert "is lost" in ran.said
    assert runs(shop.parent / "run.trace") == {"test_ends": 0}


def test_a_test_that_starts_another_process_is_not_known_in_full_nor_are_those_that_share_it(shop, record):
    (shop / "tests" / "test_more.py").write_text(
        "import subprocess\nimport sys\n\nimport pytest\n\nfrom shop import Cart\n\n\n"
        "@pytest.fixture(scope='module')\ndef server():\n    subprocess.run([sys.executable, '-c', 'pass'], check=True)\n\n\n"
        "def test_alone():\n    Cart()\n\n\n"
        "def test_served(server):\n    Cart()\n\n\n"
        "def test_served_too(server):\n    Cart()\n\n\n"
        "def test_starts():\n    subprocess.run([sys.executable, '-c', 'import shop'], check=True)\n    Cart()\n\n\n"
        "def test_in_a_shell():\n    import os\n\n    os.system('true')\n",
        encoding="utf-8",
    )
    _, ran = record(shop, "tests/test_more.py")
    assert ran.code == 0, ran.said
    assert runs(shop.parent / "run.trace") == {
        "test_alone": 1,
        "test_served": OTHER_PROCESS,
        "test_served_too": OTHER_PROCESS,
        "test_starts": OTHER_PROCESS,
        "test_in_a_shell": OTHER_PROCESS,
    }


def test_a_test_that_stops_the_recording_is_known_in_part_and_the_later_ones_in_full(shop, record):
    """Python drops a profile function at the recursion limit, and `sys.monitoring` of later versions does not."""
    (shop / "tests" / "test_more.py").write_text(
        "import cProfile\nimport sys\n\nimport pytest\n\nfrom shop import Cart\n\n\n"
        "def deep(count):\n    return deep(count + 1)\n\n\n"
        "@pytest.fixture(scope='module')\ndef shared():\n    with pytest.raises(RecursionError):\n        deep(0)\n    return Cart()\n\n\n"
        "def test_before():\n    Cart()\n\n\n"
        "def test_deep():\n    with pytest.raises(RecursionError):\n        deep(0)\n    Cart()\n\n\n"
        "def test_after():\n    Cart().add(1)\n\n\n"
        "def test_shared(shared):\n    shared.add(1)\n\n\n"
        "def test_profiled():\n    with cProfile.Profile():\n        Cart()\n\n\n"
        "def test_last():\n    Cart().add(1)\n",
        encoding="utf-8",
    )
    seen, ran = record(shop, "tests/test_more.py")
    assert ran.code == 0, ran.said
    known = runs(shop.parent / "run.trace")
    assert {name: known[name] for name in ("test_before", "test_after", "test_last")} == {"test_before": 1, "test_after": 1, "test_last": 1}
    assert seen["TESTS", "test_after"] == seen["TESTS", "test_last"] == {"Cart.__init__", "Cart.add"}
    assert "deep" in seen["TESTS", "test_deep"]
    if sys.version_info < (3, 12):
        assert known["test_deep"] == known["test_shared"] == known["test_profiled"] == 0
        assert "recorded in part, because the recording stopped during the test: tests/test_more.py:test_deep" in ran.said


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="sys.monitoring records whatever profile function is set")
def test_a_test_that_puts_the_profile_function_back_is_known_in_part_and_one_that_starts_threads_in_full(shop, record):
    (shop / "tests" / "test_more.py").write_text(
        "import sys\nimport threading\n\nfrom shop import Cart, in_thread\n\n\n"
        "def test_replaced():\n    before = sys.getprofile()\n    sys.setprofile(None)\n    Cart()\n    sys.setprofile(before)\n\n\n"
        "def test_threads():\n    in_thread(Cart)\n",
        encoding="utf-8",
    )
    seen, ran = record(shop, "tests/test_more.py")
    assert ran.code == 0, ran.said
    assert runs(shop.parent / "run.trace") == {"test_replaced": 0, "test_threads": 1}
    assert "recorded in part, because the recording stopped during the test: tests/test_more.py:test_replaced" in ran.said
    assert seen["TESTS", "test_threads"] == {"in_thread", "Cart.__init__"}


def test_a_lambda_with_a_name_is_a_function_of_its_own(shop, record):
    (shop / "named.py").write_text(
        "from shop import Cart, rounded\n\ndouble = lambda x: rounded(x) * 2\n\n\n"
        "class Till:\n    open = lambda self: [double(x) for x in (1, 2)]\n"
        "    wide = lambda self: sorted((2, 1), key=lambda x: -x)\n\n\n"
        "def pick(key=lambda x: rounded(x)):\n    return key(2)\n",
        encoding="utf-8",
    )
    (shop / "tests" / "test_more.py").write_text(
        "from named import Till, pick\n\n\ndef test_till():\n    Till().open()\n    Till().wide()\n\n\ndef test_pick():\n    pick()\n",
        encoding="utf-8",
    )
    seen, ran = record(shop, "tests/test_more.py")
    assert ran.code == 0, ran.said
    assert seen["TESTS", "test_till"] == {"Till.open", "Till.wide", "double", "rounded"}
    assert seen["CALLS", "Till.open"] == {"double"}
    assert seen["CALLS", "double"] == {"rounded"}
    assert ("CALLS", "Till.wide") not in seen, "a lambda in a lambda is part of it"
    assert "double" not in seen["TESTS", "test_pick"]


def test_unittest_cases_decorated_tests_and_late_fixtures_are_found(shop, record):
    (shop / "tests" / "test_more.py").write_text(
        "import functools\nimport unittest\n\nfrom shop import Cart, rounded\n\n\n"
        "class CartCase(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        cls.cart = Cart()\n\n"
        "    def test_add(self):\n        self.cart.add(1)\n\n\n"
        "def twice(function):\n    @functools.wraps(function)\n    def inner():\n        function()\n        function()\n\n"
        "    return inner\n\n\n"
        "@twice\ndef test_wrapped():\n    rounded(1)\n\n\n"
        "def test_late(request):\n    request.getfixturevalue('shared')\n",
        encoding="utf-8",
    )
    seen, ran = record(shop, "tests/test_more.py")
    assert ran.code == 0, ran.said
    assert seen["TESTS", "CartCase.test_add"] == {"CartCase.setUpClass", "Cart.__init__", "Cart.add"}
    assert seen["TESTS", "test_wrapped"] == {"rounded", "twice.inner"}
    assert seen["TESTS", "test_late"] == {"shared", "Cart.__init__", "Cart.add", "Cart.close"}


@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_workers_of_xdist_hand_over_what_they_recorded(shop, record):
    alone, _ = record(shop)
    spread, ran = record(shop, "-n", "2", plugins=("graphmem.pytest_plugin", "xdist"))
    assert ran.code == 0, ran.said
    assert spread == alone


def test_nothing_is_loaded_or_written_when_nobody_asks(shop, run_pytest):
    (shop / "tests" / "test_quiet.py").write_text(
        "import sys\n\n\ndef test_quiet():\n"
        "    assert [name for name in sys.modules if name.startswith('graphmem.')] == ['graphmem.pytest_plugin']\n"
        "    assert sys.getprofile() is None\n",
        encoding="utf-8",
    )
    ran = run_pytest(shop)
    assert ran.code == 0, ran.said
    assert not (shop / ".graphmem").exists()


def test_the_trace_waits_beside_the_index_and_says_so(shop, run_pytest, seen_in):
    ran = run_pytest(shop, "--graphmem")
    assert ran.code == 0, ran.said
    assert "7 tests ran 18 functions, 21 calls" in ran.said, ran.said
    (left,) = (shop / ".graphmem" / "evidence").iterdir()
    assert left.suffix == ".trace"
    assert str(left) in ran.said
    assert ("TESTS", "test_empty") in seen_in(left)


def test_a_file_edited_while_its_tests_run_is_not_spoken_of(shop, record):
    tests = shop / "tests" / "test_shop.py"
    edit = "\n\ndef test_edits():\n    import shop\n\n    open(shop.__file__, 'a').write('# more')\n"
    tests.write_text(tests.read_text(encoding="utf-8") + edit, encoding="utf-8")
    seen, ran = record(shop)
    assert "edited while the tests ran" in ran.said
    assert not any("checkout" in reached for reached in seen.values())


def test_a_run_that_meets_no_code_of_the_project_leaves_nothing(shop, record, tmp_path):
    empty = tmp_path / "elsewhere"
    empty.mkdir()
    seen, ran = record(shop, "--graphmem-root", str(empty))
    assert seen == {}
    assert "no function below" in ran.said


def test_a_root_that_is_not_there_is_a_sentence_and_not_a_traceback(shop, run_pytest):
    ran = run_pytest(shop, "--graphmem", "--graphmem-root", str(shop / "gone"))
    assert ran.code == 4
    assert "is not a directory" in ran.said
    assert "Traceback" not in ran.said


def test_a_setting_that_stops_the_recording_is_named_with_its_consequence(shop, run_pytest):
    (shop / "graphmem.toml").write_text("no_such_setting = 1\n", encoding="utf-8")
    ran = run_pytest(shop, "--graphmem")
    assert ran.code == 4
    assert "the option --graphmem cannot record this test run (" in ran.said
    assert "no_such_setting" in ran.said


DAMAGES = {
    "another file": lambda data: b"SQLite format 3\0",
    "cut in half": lambda data: data[: len(data) // 2],
    "a byte changed": lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:],
    "a later version": lambda data: data.replace(b"trace 1\n", b"trace 2\n", 1),
    "not what it says": lambda data: (
        data.partition(b"\n")[0] + b"\n" + zlib.compress(b'{"definitions": [[1]], "observations": [[9]], "origin": {}}')
    ),
    "nothing": lambda data: b"",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_trace_that_is_none_is_refused_with_its_path(shop, record, damage):
    record(shop, "-k", "empty")
    path = shop.parent / "run.trace"
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    with pytest.raises(EvidenceError, match=r"run\.trace") as refused:
        trace.read(path)
    assert refused.value.path == str(path)


def test_this_python_records_as_it_is_promised_to():
    from graphmem.evidence.recorder import Recorder

    recorder = Recorder("/")
    recorder.start()
    try:
        assert (sys.getprofile() is None) == (sys.version_info >= (3, 12))
    finally:
        recorder.stop()
    assert sys.getprofile() is None


@pytest.mark.skipif(importlib.util.find_spec("hypothesis") is None, reason="hypothesis is not installed")
def test_tests_under_hypothesis_in_classes_made_by_factories_and_async_ones_are_recorded(shop, record):
    (shop / "tests" / "test_more.py").write_text(
        "import functools\nimport unittest\n\nimport pytest\nfrom hypothesis import given, settings, strategies as st\n\n"
        "from shop import Cart, rounded\n\n\n"
        "@settings(max_examples=2, deadline=None, database=None)\n@given(st.integers())\ndef test_given(x):\n    rounded(x)\n\n\n"
        "@pytest.mark.parametrize('y', [1, 2])\n@settings(max_examples=2, deadline=None, database=None)\n@given(x=st.integers())\n"
        "def test_both(x, y):\n    Cart()\n\n\n"
        "class TestGiven:\n    @settings(max_examples=2, deadline=None, database=None)\n    @given(x=st.integers())\n"
        "    def test_method(self, x):\n        Cart()\n\n\n"
        "class Base:\n    def test_inherited(self):\n        rounded(1)\n\n\n"
        "class TestOne(Base):\n    pass\n\n\nclass TestTwo(Base):\n    pass\n\n\n"
        "def made(value):\n    def test_made():\n        rounded(value)\n\n    return test_made\n\n\n"
        "test_first, test_second = made(1), made(2)\n\n\n"
        "class Case(unittest.IsolatedAsyncioTestCase):\n    async def test_awaits(self):\n        Cart()\n\n\n"
        "def test_outer():\n    def test_inner():\n        return rounded(2)\n\n    assert test_inner()\n",
        encoding="utf-8",
    )
    seen, ran = record(shop, "tests/test_more.py")
    assert ran.code == 0, ran.said
    assert {subject: reached for (kind, subject), reached in seen.items() if kind == "TESTS"} == {
        "test_given": {"rounded"},
        "test_both": {"Cart.__init__"},
        "TestGiven.test_method": {"Cart.__init__"},
        "Base.test_inherited": {"rounded"},
        "made.test_made": {"rounded"},
        "Case.test_awaits": {"Cart.__init__"},
        "test_outer": {"test_outer.test_inner", "rounded"},
    }
    assert runs(shop.parent / "run.trace")["test_both"] == 2
    assert "match no definition" not in ran.said


@pytest.mark.skipif(importlib.util.find_spec("hypothesis") is None, reason="hypothesis is not installed")
def test_a_test_that_a_library_makes_is_recorded_for_its_file(shop, record):
    (shop / "tests" / "test_more.py").write_text(
        "from hypothesis import settings\nfrom hypothesis.stateful import RuleBasedStateMachine, rule\n\nfrom shop import rounded\n\n\n"
        "class Machine(RuleBasedStateMachine):\n    @rule()\n    def round(self):\n        rounded(1)\n\n\n"
        "TestMachine = Machine.TestCase\n"
        "TestMachine.settings = settings(max_examples=2, stateful_step_count=2, deadline=None, database=None)\n",
        encoding="utf-8",
    )
    seen, ran = record(shop, "tests/test_more.py")
    assert ran.code == 0, ran.said
    assert seen["TESTS", "<module>"] == {"Machine.round", "rounded"}
    assert runs(shop.parent / "run.trace") == {"<module>": 1}


def test_code_that_matches_no_definition_is_counted_and_named(shop, record):
    (shop / "tests" / "test_more.py").write_text(
        "from shop import Cart\n\nexec(compile('def test_made_up(): Cart()\\n\\ndef helper(): pass\\n', __file__, 'exec'), globals())\n\n\n"
        "def test_written():\n    helper()\n",
        encoding="utf-8",
    )
    seen, ran = record(shop, "tests/test_more.py")
    assert ran.code == 0, ran.said
    assert ("TESTS", "test_written") in seen
    assert "1 functions match no definition in their file and are omitted: tests/test_more.py:helper" in ran.said
    assert "1 test items match no definition and are recorded for their file: tests/test_more.py:test_made_up" in ran.said
    assert seen["TESTS", "<module>"] == {"Cart.__init__"}
