"""Types of a test's parameters, from the values of `parametrize`."""

from __future__ import annotations

from tests.resolution.python.test_edges import files

TESTS = """
    import pytest
    from a import Cat, Dog, speak, walk

    CASES = [Cat, Dog]

    @pytest.mark.parametrize("animal", [Cat(), pytest.param(Dog(), id="dog")])
    def test_sound(animal): animal.sound()

    @pytest.mark.parametrize(("action", "times"), [(speak, 1), (walk, 2)])
    def test_action(action, times): action(times)

    @pytest.mark.parametrize("kind", CASES)
    class TestKind:
        def test_made(self, kind): kind()
"""

CODE = """
    class Cat:
        def __init__(self): ...
        def sound(self): ...
    class Dog:
        def __init__(self): ...
        def sound(self): ...
    class Cow:
        def sound(self): ...
    def speak(times): ...
    def walk(times): ...
"""


def test_a_test_calls_what_its_parameters_are_given(resolve):
    found = resolve({**files(a=CODE), **{f"tests/{path}": text for path, text in files(test_a=TESTS).items()}}).edges("CALLS")
    called = {(source.partition(":")[2], target.partition(":")[2]) for source, target in found if source.startswith("tests/")}
    assert {
        ("test_sound", "Cat.sound"),
        ("test_sound", "Dog.sound"),
        ("test_action", "speak"),
        ("test_action", "walk"),
        ("TestKind.test_made", "Cat.__init__"),
        ("TestKind.test_made", "Dog.__init__"),
    } <= called
    assert ("test_sound", "Cow.sound") not in called
