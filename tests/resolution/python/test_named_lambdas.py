"""A lambda with a name of a module or a class is a function; a library's hook runs what subclasses define."""

from __future__ import annotations

from tests.resolution.python.test_edges import files

LAMBDAS = """
    def helper(x): ...

    triple = lambda x, y=1, *rest, **named: helper(x)
    alias = triple


    class Shape:
        area = lambda self: helper(self.side())
        def side(self): ...
        def whole(self): return self.area()


    def use(): return triple(1), alias(2)
    def local():
        inner = lambda x: helper(x)
        return inner(1)
    def default(key=lambda a: helper(a)): return key(1)
"""


def test_a_named_lambda_is_called_by_its_name_and_calls_what_its_body_calls(resolve):
    found = resolve(files(a=LAMBDAS)).edges("CALLS")
    assert {
        ("a.py:triple", "a.py:helper"),
        ("a.py:use", "a.py:triple"),
        ("a.py:Shape.area", "a.py:helper"),
        ("a.py:Shape.area", "a.py:Shape.side"),
        ("a.py:Shape.whole", "a.py:Shape.area"),
    } <= found


def test_a_lambda_inside_a_function_or_a_default_stays_part_of_the_code_around_it(resolve):
    found = resolve(files(a=LAMBDAS))
    assert ("a.py:local", "a.py:helper") in found.edges("CALLS")
    assert {one for one in found.edges("CALLS") if one[0] == "a.py:<module>"} == {("a.py:<module>", "a.py:helper")}  # of the default
    assert not [one for one in found.edges("DEFINES") if "inner" in one[1]]


def test_the_result_of_a_named_lambda_is_that_of_its_body(resolve):
    found = resolve(files(a="class C:\n    def m(self): ...\n\nmake = lambda: C()\n\ndef f(): make().m()\n"))
    assert ("a.py:f", "a.py:C.m") in found.edges("CALLS")


def test_a_call_on_self_of_a_librarys_method_runs_what_subclasses_define(resolve):
    code = """
        import collections.abc

        class Cache(collections.abc.MutableMapping):
            def __setitem__(self, key, value): self.popitem()

        class First(Cache):
            def popitem(self): ...

        class Last(Cache):
            def popitem(self): ...

        First(), Last()
    """
    found = resolve(files(a=code)).edges("CALLS")
    assert {("a.py:Cache.__setitem__", "a.py:First.popitem"), ("a.py:Cache.__setitem__", "a.py:Last.popitem")} <= found


def test_an_abstract_property_is_read_in_the_subclasses_and_not_in_its_base(resolve):
    code = """
        from abc import abstractproperty

        class Base:
            @abstractproperty
            def buffer(self): ...
            def read(self): return self.buffer

        class One(Base):
            @property
            def buffer(self): ...

        One()
    """
    found = resolve(files(a=code)).edges("CALLS")
    assert ("a.py:Base.read", "a.py:One.buffer") in found
    assert ("a.py:Base.read", "a.py:Base.buffer") not in found


def test_of_methods_found_by_name_alone_an_abstract_one_does_not_run(resolve):
    code = """
        from abc import abstractmethod

        class Base:
            @abstractmethod
            def first_leaf_of(self): ...

        class One(Base):
            def first_leaf_of(self): ...

        class Two(Base):
            def first_leaf_of(self): ...

        def f(x, y): return x[y].first_leaf_of()
    """
    found = resolve(files(a=code)).edges("CALLS")
    assert {("a.py:f", "a.py:One.first_leaf_of"), ("a.py:f", "a.py:Two.first_leaf_of")} <= found
    assert ("a.py:f", "a.py:Base.first_leaf_of") not in found
