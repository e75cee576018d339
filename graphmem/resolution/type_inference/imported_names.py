"""Find names of other files, through imports, stars and packages.

A name may come from an import, a star import or a file of the same package. It may also be a member of a module.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.resolution.files.file_entry import FileEntry, Place
from graphmem.resolution.interfaces.language import as_rules, rules_of
from graphmem.resolution.type_inference.bindings import whole
from graphmem.resolution.values.symbol import FUNCTION_KINDS, Symbol
from graphmem.resolution.values.types import (
    EMPTY,
    EXT,
    MODULE,
    NAMESPACE,
    Atom,
    Module,
    Type,
    join_all,
    one,
    ordered,
)

if TYPE_CHECKING:
    from graphmem.resolution.interfaces.inference import Inference


class ImportedNames:
    """Finds names of other files, for type inference."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.project = inference.project
        self.ask = inference.project.solver.ask

    def elsewhere(self, entry: FileEntry, name: str) -> list[Place] | None:
        """Return the bindings of a name that the file itself does not define.

        Another file of the package may define the name, or a star import may provide it. Otherwise the result is None.
        """
        return rules_of(entry).shared(self.inference, entry, name) or self._through_stars(entry, name)

    def _through_stars(self, entry: FileEntry, name: str) -> list[Place] | None:
        """Return the bindings of a name that a star import provides.

        An example is `from a import *`. The result is None if no star import has the name.
        """
        self.project.touch_top(entry, "*")
        if not entry.stars:
            return None
        path = self.ask(entry.memo, ("*", name), self._star_origin, entry, name)
        target = self.project.file(path) if path else None
        return None if target is None else [Place(target, 0, slot) for slot in whole(target, target.names(0).get(name, ()))]

    def _star_origin(self, entry: FileEntry, name: str) -> str:
        """Return the path of the file from which `import *` takes a name.

        If several imports provide the name, the last import is used. The result is "" if there is none.
        """
        for position in reversed(entry.stars):
            found = entry.facts.imports[position]
            for atom in sorted(rules_of(entry).import_targets(self.inference, entry, found), key=repr):
                target = self.project.file(atom[1]) if atom[0] == MODULE else None
                if target is None or target is entry:
                    continue
                self.project.touch_top(target, "*")
                if not rules_of(target).exported_to(entry, target, name):
                    continue
                self.project.touch_top(target, name)
                if target.names(0).get(name):
                    return target.path
                if target.stars:
                    origin = self.ask(target.memo, ("*", name), self._star_origin, target, name)
                    if origin:
                        return str(origin)
        return ""

    def _module_places(self, target: FileEntry, name: str) -> list[Place] | None:
        self.project.touch_top(target, name)
        slots = target.names(0).get(name)
        if slots:
            return [Place(target, 0, slot) for slot in whole(target, slots)]
        return self.elsewhere(target, name)

    def module_places(self, path: str, name: str) -> list[Place] | None:
        """Return the bindings that define a name at the top level of a module."""
        target = self.project.file(path)
        return None if target is None else self._module_places(target, name)

    def imported(self, entry: FileEntry, position: int) -> Type:
        """Return the type of the name that an import binds.

        `position` is the position of the import among the file's imports.
        """
        found = entry.facts.imports[position]
        modules = rules_of(entry).import_targets(self.inference, entry, found)
        if not found.name:
            return join_all(rules_of(entry).whole_module(self.inference, atom) for atom in ordered(modules))
        return join_all(self.taken(entry, atom, found.name) for atom in ordered(modules))

    def taken(self, entry: FileEntry, module: Atom, name: str) -> Type:
        """Return the type of the name `b` in `from a import b`.

        `module` is `a`. If `a` is the importing file itself, as for `from . import b` in a Python `__init__.py`, the name is a submodule.
        """
        if module[0] == MODULE and module[1] == entry.path and rules_of(entry).own_names_are_below:
            return rules_of(entry).submodule(self.inference, module, name)
        return rules_of(entry).taken(self.inference, module, name)

    def module_member(self, module: Atom, name: str) -> Type:
        """Return the type of a member `name` of a module.

        The member is a definition, an import or a submodule.
        """
        if module[0] == EXT:
            return one((EXT, module[1], f"{module[2]}.{name}" if module[2] else name, None))
        if module[0] == MODULE:
            target = self.project.file(module[1])
            given = rules_of(target).module_value(self.inference, target, name) if target is not None else None
            if given is not None:
                return given
            places = self.module_places(module[1], name)
            if places:
                return join_all(self.inference.slot(place) for place in places)
            return rules_of(target).submodule(self.inference, module, name) if target is not None else EMPTY
        rules = self.project.rules_of(module[2]) if module[0] == NAMESPACE else None
        return as_rules(rules).submodule(self.inference, module, name) if rules is not None else EMPTY

    def hook_for_missing(self, module: Module, name: str) -> list[Symbol]:
        """Return the function that a module runs for a missing name.

        In Python, the function is `__getattr__` of the module. The result is empty if the module has the name, if it does not define such a
        function, or if the name begins with `__`.
        """
        target = self.project.file(module[1])
        hook = rules_of(target).fallback_method if target is not None else ""
        if target is None or not hook or name.startswith("__"):
            return []
        functions = [
            place.slot.index
            for place in self.module_places(module[1], hook) or ()
            if place.entry is target and place.slot.kind == "definition"
        ]
        if not functions or self.module_places(module[1], name) or self.module_member(module, name):
            return []
        return [target.symbols[index] for index in functions if target.symbols[index].kind in FUNCTION_KINDS]
