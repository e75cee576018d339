"""What differs between languages: one subclass of `Rules` for each, found by its name.

`language.toml` names the class by its key `rules`, and `_MODULES` says where it stands. `NameRules`, `ClassRules` and
`CallRules` list what may be asked. Every answer has a default: a language may start with `module_names` and
`import_targets` alone. Rules keep no state about files. What they read of other files goes through
`inference.project`, which records it as an input.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from graphmem.resolution.rules_of_calls import CallRules
from graphmem.resolution.rules_of_classes import ClassRules
from graphmem.resolution.rules_of_names import NameRules
from graphmem.resolution.types import (
    EXT,
    Type,
    one,
)

if TYPE_CHECKING:
    from graphmem.parsing.language import LanguageSpec
    from graphmem.resolution.file_entry import FileEntry, FileRules
    from graphmem.resolution.layout import Layout


class Rules(NameRules, ClassRules, CallRules):
    """The defaults: lexical scopes, classes with `this`, nothing known outside.

    Args:
        layout: what the project's configuration files say.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    @classmethod
    def of_language(cls, layout: Layout, spec: LanguageSpec) -> Rules:
        """The rules for the files of one language; those that serve several look into its table."""
        return cls(layout)


_MODULES: Final[Mapping[str, str]] = {
    "python": "graphmem.resolution.python.rules",
    "ecmascript": "graphmem.resolution.ecmascript.rules",
    "go": "graphmem.resolution.go.rules",
    "scoped": "graphmem.resolution.scoped",
    "rust": "graphmem.resolution.rust.rules",
    "java": "graphmem.resolution.java.rules",
}
"""Where the rules of each name live; each module has a class `RULES`."""


@cache
def rules_class(name: str) -> type[Rules] | None:
    """The rules of that name; None for "" and for a name nobody wrote rules for."""
    if name not in _MODULES:
        return None
    found: type[Rules] = import_module(_MODULES[name]).RULES
    return found


def rules_of(entry: FileEntry) -> Rules:
    """The rules of the language of a file."""
    return entry.rules  # type: ignore[return-value]  # as `as_rules` says; asked for too often to call it


def as_rules(rules: FileRules) -> Rules:
    """The same rules, seen whole: `Resolver` gives a project no others, and `FileEntry` must not know what stands above it."""
    return rules  # type: ignore[return-value]


def external(package: str, dotted: str = "") -> Type:
    """Something outside the project."""
    return one((EXT, package, dotted, None))
