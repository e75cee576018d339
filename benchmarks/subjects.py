"""Public repositories whose tests run in a few seconds, for `selection` and `replay`."""

from __future__ import annotations

from typing import Final, NamedTuple


class Subject(NamedTuple):
    """A repository and the paths of its code and tests."""

    mirror: str
    path: str  # folder of packages
    tests: str
    package: str  # the changed code, from the root


SUBJECTS: Final = {
    "cachetools": Subject("tkem+cachetools", "src", "tests", "src/"),
    "h11": Subject("python-hyper+h11", ".", "h11/tests", "h11/"),
    "sqlparse": Subject("andialbrecht+sqlparse", ".", "tests", "sqlparse/"),
    "mistune": Subject("lepture+mistune", "src", "tests", "src/"),
    "tinydb": Subject("msiemens+tinydb", ".", "tests", "tinydb/"),
    "boltons": Subject("mahmoud+boltons", ".", "tests", "boltons/"),
    "pyflakes": Subject("PyCQA+pyflakes", ".", "pyflakes/test", "pyflakes/"),
    "click": Subject("pallets+click", "src", "tests", "src/"),
    "parso": Subject("davidhalter+parso", ".", "test", "parso/"),
    "jinja": Subject("pallets+jinja", "src", "tests", "src/"),
    "structlog": Subject("hynek+structlog", "src", "tests", "src/"),
    "marshmallow": Subject("marshmallow-code+marshmallow", "src", "tests", "src/"),
}
CHECKED: Final = ("tinydb", "boltons", "pyflakes", "click")
"""Subjects that no rule of selection was chosen on."""


def is_test(subject: Subject, path: str) -> bool:
    return path.startswith(f"{subject.tests}/")
