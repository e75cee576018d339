"""Find the definitions of names in C and C++, guided by included files.

All files of a project share their global names, because a linker joins them. If several files define a name, the definition in an included
file is chosen.

A binding of a name is a place that gives the name its meaning, such as `x = f()`, `import x`, `def x` or a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.resolution.cfamily.spaces import named_by, seen_first, space_of
from graphmem.resolution.files.file_entry import Place
from graphmem.resolution.files.package_blocks import package_at
from graphmem.resolution.scoped.names import is_class, is_private, stem
from graphmem.resolution.scoped.rules import ScopedRules
from graphmem.resolution.type_inference.bindings import whole
from graphmem.resolution.values.symbol import CLASS_KINDS, Symbol
from graphmem.resolution.values.types import CLASS, EMPTY, MODULE, NAMESPACE, Atom, Type, join, join_all, one, ordered

if TYPE_CHECKING:
    from graphmem.parsing.facts import FileFacts
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference

_WINDOWS: Final = re.compile(r"(?:^|[_/.-])(?:win|win32|win64|windows|mingw|msvc)(?=[_/.-])", re.IGNORECASE)
ELSEWHERE: Final = "windows"
"""Modifier of definitions that only a build for Windows contains."""

_HEADERS: Final = (".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp")
"""Name endings of header files, which other files include."""

_STANDARD: Final = "std"
"""The namespace of the standard library. Projects may only add names to it."""


_TYPES: Final = frozenset((*CLASS_KINDS, "type"))


class CFamilyNames(ScopedRules):
    """The part of the C and C++ rules that finds the definitions of names.

    It also finds members that are written outside their class.
    """

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """Return the names under which other files can find a file.

        The first name is shared by all C and C++ files. The others are the namespaces that the file opens. A nested namespace `a::b` counts
        as `a`, `b` and `a.b`.
        """
        found: list[str] = []
        for name in super().names_of(facts):
            found += (name, *name.split("."))
        return tuple(dict.fromkeys(found))

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """Return the type of `name` in the namespace `module`, as in `a::name`.

        A function may be defined outside the braces of its namespace, as `a::name() {…}`. If no file of the namespace defines `name`, it is
        looked up in all files, because a macro may open the namespace.
        """
        found = super().submodule(inference, module, name)
        if module[0] == NAMESPACE and name:
            apart = self._apart(inference, (module[1].rpartition(".")[2],), name)
            found = join(found, join_all(inference.slot(place) for place in apart))
        if found or module[0] != NAMESPACE or module[1] == _STANDARD or not name:
            return found
        places = self.package_places(inference, self._group, name, None)
        return join_all(inference.slot(place) for place in _named([place for place in places if not is_private(place)], module[1]))

    def package_places(self, inference: Inference, package: str, name: str, entry: FileEntry | None) -> list[Place]:
        """Return the bindings that define a name in a namespace.

        A file may open several namespaces that define the name. Only definitions in the namespace itself are returned, if it has any.
        """
        found = super().package_places(inference, package, name, entry)
        return found if package == self._group else _named(found, package)

    def seen_first(self, entry: FileEntry, scope: int, places: Sequence[Place]) -> Sequence[Place]:
        """Return the definitions of a name that code in a namespace refers to.

        `places` are all definitions of the name. `scope` is the code that uses the name, in the file `entry`. A class of an inner namespace
        hides classes of outer ones. Definitions in namespaces inside that of `scope` are left out if there are others.
        """
        if not scope:
            return places
        spaces = [space_of(place) for place in places]
        if len(set(spaces)) < 2:
            return places
        here = package_at(entry, entry.definitions[scope].start_line)
        kept = seen_first(spaces, here, hides=all(map(_is_type, places)))
        return [place for place, space in zip(places, spaces, strict=True) if space in kept]

    def shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        """Return the definitions of a name that the file itself does not define.

        Definitions in included files are searched first; these may be static. If there are none, definitions in all files are searched,
        except static ones and macros that only their including files can use. If the search finds definitions in several files:

        - If all are classes, or all are aliases, all are returned.
        - Otherwise, only the definitions in a file with the same base name as this file or an included file are returned.

        The result is None if nothing was found, or if the last rule does not leave exactly one file.
        """
        found: list[Place] | None = inference.project.solver.ask(entry.memo, ("shared", name), self._shared, inference, entry, name)
        return found

    def _shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        places = self.package_places(inference, self._group, name, entry)
        if inference.project.knows_name(name):
            places += self._apart(inference, self._opened(inference, entry), name)
        places = [place for place in places if self.visible_apart(entry, place)]
        if not places:
            return None
        included = self.included(inference, entry)
        found = [place for place in places if place.entry.path in included]
        found = found or [place for place in places if not is_private(place) and not self._is_macro_apart(place, name)]
        if len({place.entry.path for place in found}) < 2 or all(map(is_class, found)) or all(_is_alias(place, name) for place in found):
            return found or None
        stems = {stem(path) for path in included} | {stem(entry.path)}
        near = [place for place in found if stem(place.entry.path) in stems]
        return near if len({place.entry.path for place in near}) == 1 else None

    def _is_macro_apart(self, place: Place, name: str) -> bool:
        """Return whether files must include the file of a macro to use the macro.

        `place` is a definition, which may be a macro. The result is True for a macro in a source file, and for a macro named like a
        standard function. It is False for any other macro in a header, because a file without the header can use the macro if a third
        file includes both.
        """
        is_standard = name in self._functions
        return "macro" in _modifiers(place) and (is_standard or not place.entry.path.endswith(_HEADERS))

    def included(self, inference: Inference, entry: FileEntry) -> frozenset[str]:
        """Return the paths of files that a file includes, also indirectly."""
        found: frozenset[str] = inference.project.solver.ask(entry.memo, ("included",), self._included, inference, entry)
        return found

    def _included(self, inference: Inference, entry: FileEntry) -> frozenset[str]:
        found: set[str] = set()
        pending = [entry]
        while pending:
            current = pending.pop()
            inference.project.touch_top(current, "")
            for one_import in current.facts.imports:
                for atom in ordered(self.import_targets(inference, current, one_import)):
                    target = inference.project.file(atom[1]) if atom[0] == MODULE else None
                    if target is not None and target.path not in found:
                        found.add(target.path)
                        pending.append(target)
        return frozenset(found)

    def _opened(self, inference: Inference, entry: FileEntry) -> Collection[str]:
        """Return the last names of the namespaces that a file can see.

        These are the namespaces that the file or an included file opens.
        """
        found: Collection[str] = inference.project.solver.ask(entry.memo, ("opened",), self._namespaces, inference, entry)
        return found

    def _namespaces(self, inference: Inference, entry: FileEntry) -> Collection[str]:
        files = [entry, *(inference.project.files[path] for path in sorted(self.included(inference, entry)))]
        inference.project.touch_top(entry, "")
        return tuple(dict.fromkeys(name for file in files for name in self.names_of(file.facts)[1:] if "." not in name))

    def _apart(self, inference: Inference, namespaces: Collection[str], name: str) -> list[Place]:
        """Return functions that are written as `a::name() {…}`, for some `a`.

        `namespaces` has the possible values of `a`. If `a` is also the name of a class, the function is a method and is left out.
        """
        written = self._written_spaces(inference, name)
        spaces = [space for space in namespaces if space in written]
        found = [place for space in spaces for place in self.package_places(inference, self._group, f"{space}.{name}", None)]
        owners = {_written_owner(place)[-1] for place in found}
        classes = {owner for owner in owners if any(one.kind in CLASS_KINDS for one in inference.project.named(owner))}
        return [place for place in found if _written_owner(place)[-1] not in classes]

    def _written_spaces(self, inference: Inference, name: str) -> Collection[str]:
        """Return each prefix `a` of a definition `a::name` in the project.

        Only definitions outside of classes and functions are considered. Few names are defined like this, but a file sees dozens of
        namespaces. So this single look-up saves one look-up for each namespace.
        """
        slots = []
        for symbol in inference.project.named(name):
            entry = inference.project.files[symbol.path]
            if "." in entry.definitions[symbol.index].qualname:
                slots.append(self.definition_slot(entry, symbol.index))
        return {slot.rpartition(".")[0] for scope, slot in slots if scope == 0}

    def visible(self, inference: Inference, entry: FileEntry, functions: Sequence[Symbol]) -> Sequence[Symbol]:
        """Return the functions of one name that a file can see.

        The file can see functions in itself, in an included file, and in a source file that has the same name as an included header. If it
        can see none of `functions`, all are returned.
        """
        seen = self.included(inference, entry) | {entry.path}
        stems = {stem(path) for path in seen}
        return [one for one in functions if one.path in seen or stem(one.path) in stems] or functions

    def visible_apart(self, entry: FileEntry, place: Place) -> bool:
        """Return whether one build can contain both a definition and a file.

        `place` is the definition, and `entry` the file. The result is False only if the definition is for Windows and the file is not.
        """
        return is_for_windows(entry.path, ()) or not is_for_windows(place.entry.path, _modifiers(place))

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """Return the (scope, name) under which look-ups find a definition.

        `position` is the definition's position in the file. A macro or a `friend` belongs to no class. A method or class may be written
        outside its class, such as `a::b::Class::method`. The name in the result is then `Class.method`. The earlier parts are left out,
        because they may be namespaces.
        """
        scope, slot = super().definition_slot(entry, position)
        definition = entry.definitions[position]
        if "macro" in definition.modifiers or (definition.kind == "function" and "friend" in definition.modifiers):
            return 0, definition.name
        if definition.kind in CLASS_KINDS and definition.parent == 0 and "." in definition.qualname:
            slot = definition.qualname
        return scope, ".".join(slot.split(".")[-2:])

    def members_elsewhere(self, inference: Inference, owner: Symbol, name: str) -> Sequence[Place]:
        """Return the bindings of a method that is defined outside its class.

        `owner` is the class, and `name` is the name of the method.
        """
        entry = inference.project.entry(owner)
        slot = f"{owner.name}.{name}"
        places = self.package_places(inference, self._group, slot, entry)
        if "." in owner.qualname:
            places += (Place(entry, 0, found) for found in whole(entry, entry.names(0).get(slot, ())))
        found = []
        for place in places:
            inference.project.touch_top(place.entry, place.entry.top_name(place.slot.index))
            if self._is_of(inference, owner, _written_owner(place)):
                found.append(place)
        return [place for place in found if self.visible_apart(entry, place)] or found

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the type of a name that no scope of its file binds.

        The name may be a nested class that is defined elsewhere. After `class Outer { class Name; };`, any file may contain `class
        Outer::Name {…};`.
        """
        found = super().unbound(inference, entry, scope, name)
        while scope > 0 and not found and any(symbol.kind in CLASS_KINDS for symbol in inference.project.named(name)):
            around = self.implied_class(inference, entry, scope)
            places = self.members_elsewhere(inference, around, name) if around is not None else ()
            found = join_all(inference.slot(place) for place in places if is_class(place))
            scope = entry.definitions[scope].parent
        return found

    def _is_of(self, inference: Inference, owner: Symbol, written: Sequence[str]) -> bool:
        """Return whether a prefix such as `a::Class` names a given class.

        `owner` is the class. `written` has the parts of the prefix, here `a` and `Class`. The prefix may begin with namespaces, but not
        with another class.
        """
        path = owner.qualname.split(".")
        if list(written[-len(path) :]) != path:
            return False
        before = written[: -len(path)]
        return not before or not any(symbol.kind in CLASS_KINDS for symbol in inference.project.named(before[-1]))

    def owner_apart(self, inference: Inference, entry: FileEntry, position: int) -> Type:
        """Return the class of a method written outside the class: `A::f() {…}`.

        `position` is the method's position in the file `entry`.
        """
        written = _written_owner_of(entry, position)
        for first in range(len(written)):
            places = inference.lookup(entry, 0, written[first], 1 << 30)
            found = EMPTY
            for place in places or ():
                found = join(found, inference.expanded(inference.slot(place)))
            for name in written[first + 1 :]:
                found = inference.attribute(found, name)
            classes = [atom for atom in ordered(found) if atom[0] == CLASS]
            if classes:
                return frozenset(classes) if len(classes) < 2 else self._nearest_class(inference, entry, found)
        return EMPTY

    def _nearest_class(self, inference: Inference, entry: FileEntry, found: Type) -> Type:
        included = self.included(inference, entry)
        near = [atom for atom in ordered(found) if atom[0] == CLASS and (atom[1].path in included or atom[1].path == entry.path)]
        return one(near[0]) if len(near) == 1 else found


def _written_owner(place: Place) -> list[str]:
    return _written_owner_of(place.entry, place.slot.index)


def _written_owner_of(entry: FileEntry, position: int) -> list[str]:
    return entry.definitions[position].qualname.split(".")[:-1]


def is_for_windows(path: str, modifiers: Collection[str]) -> bool:
    """Return whether a definition is part of builds for Windows only.

    `path` is the file of the definition, and `modifiers` are the definition's modifiers. Either can show that the definition is for
    Windows.
    """
    return ELSEWHERE in modifiers or _WINDOWS.search(path) is not None


def _modifiers(place: Place) -> Sequence[str]:
    return place.entry.definitions[place.slot.index].modifiers if place.slot.kind == "definition" else ()


def _named(places: list[Place], written: str) -> list[Place]:
    """Return the definitions of a name in the namespace that code writes.

    `places` are all definitions. `written` is the namespace before the name, such as `a::b` in `a::b::name`.
    """
    if len(places) < 2:
        return places
    spaces = [space_of(place) for place in places]
    kept = named_by(spaces, written)
    return [place for place, space in zip(places, spaces, strict=True) if space in kept]


def _is_type(place: Place) -> bool:
    """Return whether a binding is the definition of a class or an alias."""
    return place.slot.kind == "definition" and place.entry.definitions[place.slot.index].kind in _TYPES


def _is_alias(place: Place, name: str) -> bool:
    """Return whether a binding is an alias declaration `using name = …`."""
    return any(
        slot.kind == "definition" and place.entry.definitions[slot.index].kind == "type" for slot in place.entry.names(0).get(name, ())
    )
