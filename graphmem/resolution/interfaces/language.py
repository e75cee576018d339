"""Resolution rules of languages: a subclass of `Rules` for each language.

The key `rules` in `language.toml` names the folder of the class. `NameRules`, `ClassRules` and `CallRules` declare the
overridable methods. Every method has a default, so a new language needs only `module_names` and `import_targets`. Rules keep no state about
files. They read other files through `inference.project`, which records each look-up. So after a change of a file, the answers that read the
file are computed again.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from graphmem.resolution.interfaces.rules_of_calls import CallRules
from graphmem.resolution.interfaces.rules_of_classes import ClassRules
from graphmem.resolution.interfaces.rules_of_names import NameRules

if TYPE_CHECKING:
    from graphmem.parsing.language import LanguageSpec
    from graphmem.resolution.files.file_entry import FileEntry, FileRules
    from graphmem.resolution.interfaces.layout import Layout


class Rules(NameRules, ClassRules, CallRules):
    """The default resolution rules: lexical scopes, `this`, no libraries.

    Args:
        layout: facts that were read from the project's configuration files.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    @classmethod
    def of_language(cls, layout: Layout, spec: LanguageSpec) -> Rules:
        """Create the rules of one programming language.

        `spec` has the content of the `language.toml` of this language. This method does not read it. A class that serves several languages
        overrides this method and reads `spec`.
        """
        return cls(layout)


@cache
def rules_class(name: str) -> type[Rules] | None:
    """Return the rules class with a given name; None for an unknown name.

    The class is the value of `RULES` in the module `rules` of a folder of this name, or in a module of this name.
    """
    if not name.isidentifier():
        return None
    room = "graphmem.resolution"
    for module in (f"{room}.{name}.rules", f"{room}.{name}"):
        try:
            known = find_spec(module) is not None
        except ModuleNotFoundError:  # the folder is missing, or is a module
            continue
        found = getattr(import_module(module), "RULES", None) if known else None
        if isinstance(found, type) and issubclass(found, Rules):
            return found
    return None


def rules_of(entry: FileEntry) -> Rules:
    """Return the resolution rules of the language of a file."""
    return entry.rules  # type: ignore[return-value]  # as `as_rules` says; asked for too often to call it


def as_rules(rules: FileRules) -> Rules:
    """Cast `FileRules` to the full interface `Rules`, for the type checker.

    The cast is safe, because `Resolver` passes only full rules. It is needed, because `FileEntry` must not import the modules that use it.
    """
    return rules  # type: ignore[return-value]
