"""Resolution rules of languages: a subclass of `Rules` for each language.

The key `rules` in `language.toml` names the class, and `_MODULES` gives its module. `NameRules`, `ClassRules` and `CallRules` declare the
overridable methods. Every method has a default, so a new language needs only `module_names` and `import_targets`. Rules keep no state about
files. They read other files through `inference.project`, which records each look-up. So after a change of a file, the answers that read the
file are computed again.
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
    Package,
    Type,
    one,
)

if TYPE_CHECKING:
    from graphmem.parsing.language import LanguageSpec
    from graphmem.resolution.file_entry import FileEntry, FileRules
    from graphmem.resolution.layout import Layout


class Rules(NameRules, ClassRules, CallRules):
    """The default resolution rules of a language: lexical scopes, `this`.

    They know no libraries.

    Args:
        layout: facts that were read from the project's configuration files.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    @classmethod
    def of_language(cls, layout: Layout, spec: LanguageSpec) -> Rules:
        """Create the rules of one language, which `spec` describes.

        Override this method in a class that serves several languages. By default, `spec` is not read.
        """
        return cls(layout)


_MODULES: Final[Mapping[str, str]] = {
    "python": "graphmem.resolution.python.rules",
    "ecmascript": "graphmem.resolution.ecmascript.rules",
    "go": "graphmem.resolution.go.rules",
    "cfamily": "graphmem.resolution.cfamily.rules",
    "scoped": "graphmem.resolution.scoped.rules",
    "csharp": "graphmem.resolution.csharp.rules",
    "rust": "graphmem.resolution.rust.rules",
    "jinja": "graphmem.resolution.jinja",
    "java": "graphmem.resolution.java.rules",
}
"""Module of each rules class, by name; each has a class `RULES`."""


@cache
def rules_class(name: str) -> type[Rules] | None:
    """Return the rules class with a given name; None for an unknown name."""
    if name not in _MODULES:
        return None
    found: type[Rules] = import_module(_MODULES[name]).RULES
    return found


def rules_of(entry: FileEntry) -> Rules:
    """Return the resolution rules of the language of a file."""
    return entry.rules  # type: ignore[return-value]  # as `as_rules` says; asked for too often to call it


def as_rules(rules: FileRules) -> Rules:
    """Cast `FileRules` to the full interface `Rules`, for the type checker.

    The cast is safe, because `Resolver` passes only full rules. It is needed, because `FileEntry` must not import the modules that use it.
    """
    return rules  # type: ignore[return-value]


def external(package: Package, dotted: str = "") -> Type:
    """Return the type of a name in a package outside the project."""
    return one((EXT, package, dotted, None))
