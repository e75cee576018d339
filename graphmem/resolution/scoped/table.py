"""Settings for resolving the names of a language, and rules that use them.

The settings are in `[resolution]` of `language.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self

from graphmem.resolution.packages import PackageRules, resolution_table
from graphmem.resolution.scoped.lambdas import OF_BLOCK, PSEUDO
from graphmem.resolution.values.types import EMPTY, EXT, Language, Package, Type, one
from graphmem.runtime.data.conventions import conventions_of

if TYPE_CHECKING:
    from graphmem.parsing.facts import Definition
    from graphmem.parsing.language import LanguageSpec
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.layout import Layout

_KEYS: Final = frozenset(
    {
        *("shares", "imports", "separator", "dots", "endings", "module_returns", "scripts", "templates", "outer_packages"),
        *("given_to_all", "given_to_tests", "program", "keep", "headers", "component"),
        *("constructors", "implied_this", "typed", "maker", "reopened", "any_count", "open_enums", "mixins", "class_side"),
        *("class_constant", "own_variables", "fields", "file_class", "objects", "accessors", "library_bases", "missing"),
        *("call_method", "late_variables", "many", "extensions"),
        *("types", "string", "conversions", "containers", "transparent", "element", "type_of", "itself", "makes", "maps", "parts"),
        *("shared_variables", "closed", "group", "pairs", "makers", "catches", "library_members", "no_result"),
        *("library", "standard", "typed_results", "functions", "results", "common", "blocks", "block", "iterator", "iterates"),
        *("of_elements", "of_object", "operators", "text", "prints", "delegates", "expressions", "container_members"),
    }
)
MAX_PACKAGES: Final = 3
"""Most packages of one file whose names it sees without an import."""


class ScopedTable(PackageRules):
    """Settings for resolving the names of a language, from `language.toml`.

    Args:
        layout: contents of the project's configuration files.
        spec: the description of the language.

    Raises:
        GrammarError: `[resolution]` has an unknown key.
    """

    def __init__(self, layout: Layout, spec: LanguageSpec) -> None:
        super().__init__(layout)
        table = resolution_table(spec, _KEYS)
        self._language = Language(spec.name)
        self._read_packages(table, spec)
        self._read_classes(table, spec)
        self._read_types(table)
        self._read_library(table, spec)

    def _read_packages(self, table: Mapping[str, Any], spec: LanguageSpec) -> None:
        """Read the settings of files, packages and imports from `table`."""
        self._group = f"<{table.get('group', spec.name)}>"
        self._shares = str(table.get("shares", ""))
        self._by_path = table.get("imports", "name") == "path"
        self.packages_of_file = MAX_PACKAGES if self._shares == "package" and not self._by_path else 1
        self.separator = str(table.get("separator", "."))
        self._names_classes = not spec.imports_namespaces
        self._dots = bool(table.get("dots"))
        self._endings: tuple[str, ...] = tuple(table.get("endings", ("",)))
        self._module_returns = bool(table.get("module_returns"))
        self.script_endings = tuple(table.get("scripts", ()))
        self._templates: tuple[str, ...] = tuple(table.get("templates", ()))
        self.sees_outer_packages = bool(table.get("outer_packages"))
        self._given_to_all: Mapping[str, Sequence[str]] = table.get("given_to_all", {})
        self._given_to_tests: Sequence[str] = table.get("given_to_tests", ())
        self._makers: Mapping[str, str] = table.get("makers", {})
        self._catches = frozenset(table.get("catches", ()))
        self._no_result = frozenset(table.get("no_result", ()))
        self.program = str(table.get("program", ""))
        self._keep = frozenset(table.get("keep", ()))
        self._headers = frozenset(table.get("headers", ()))
        self._component = str(table.get("component", ""))

    def _read_classes(self, table: Mapping[str, Any], spec: LanguageSpec) -> None:
        """Read the settings of classes and their members from `table`."""
        self.constructors = tuple(table.get("constructors", ()))
        self.class_scope_is_visible = bool(table.get("implied_this"))
        self.this_is_implied = bool(table.get("implied_this"))
        self.has_overloads = conventions_of(spec.name).overloads
        self.types_are_declared = bool(table.get("typed"))
        self.class_calls_are_virtual = False
        self._maker = str(table.get("maker", ""))
        self._reopened: bool | str = table.get("reopened", False)
        self._any_count = bool(table.get("any_count"))
        self._open_enums = bool(table.get("open_enums"))
        self._mixin = str(table.get("mixins", ""))
        self._mixins = self.sides_are_apart = bool(self._mixin)
        self._class_side = str(table.get("class_side", ""))
        self._class_constant = str(table.get("class_constant", ""))
        self.libraries_give_anything = bool(self._class_constant)
        self._own_variables = self.variables_belong_to_blocks = bool(table.get("own_variables"))
        self._shared_variables = tuple(str(table.get("shared_variables", "")))
        self._closed = str(table.get("closed", ""))
        self._fields = str(table.get("fields", ""))
        self.fields_are_called = bool(self._fields)
        self._file_class = str(table.get("file_class", ""))
        self._objects = frozenset(table.get("objects", ()))
        self._accessors = bool(table.get("accessors"))
        self._library_bases: Mapping[str, Sequence[str]] = table.get("library_bases", {})
        self._library_members = {name: frozenset(words.split()) for name, words in table.get("library_members", {}).items()}
        self._missing = str(table.get("missing", ""))
        self.call_method = str(table.get("call_method", self.call_method))
        self.variables_begin_late = bool(table.get("late_variables"))
        self.many_methods = int(table.get("many", 0))
        self._extends = str(table.get("extensions", ""))
        self.has_extensions = self._extends == "owner"

    def _read_types(self, table: Mapping[str, Any]) -> None:
        """Read the settings of the language's types and conversions from `table`."""
        self._types = frozenset(table.get("types", ()))
        self.string_type = str(table.get("string", ""))
        self._conversions: Mapping[str, Sequence[str]] = table.get("conversions", {})
        self.final_types = frozenset(self._conversions)
        self._containers = {
            name: (kind, (0, 1) if kind == "map" else (0,)) for kind, names in table.get("containers", {}).items() for name in names
        }
        self._transparent = frozenset(table.get("transparent", ()))
        self._element = frozenset(table.get("element", ()))
        self._container_members = frozenset(str(table.get("container_members", "")).split())
        self._type_of = str(table.get("type_of", ""))
        self._itself = frozenset(table.get("itself", ()))
        self.lists_of_arguments = frozenset({"list", "tuple"})
        self._makes = {name: kind for kind, names in table.get("makes", {}).items() for name in names}
        self._maps = frozenset(table.get("maps", ()))
        self._parts: Mapping[str, int | str] = table.get("parts", {})
        self._pairs = frozenset(table.get("pairs", ()))
        self._delegates: Mapping[str, int] = table.get("delegates", {})
        self._expressions = frozenset(table.get("expressions", ()))

    def _read_library(self, table: Mapping[str, Any], spec: LanguageSpec) -> None:
        """Read from `table` the settings of the library and of implicit calls.

        An implicit call is one that syntax makes, such as a loop.
        """
        self.builtin_package = Package(table.get("library", spec.name))
        self.standard_packages = frozenset(table.get("standard", ()))
        self._typed_results = frozenset(table.get("typed_results", ()))
        self._functions = frozenset(table.get("functions", ())) | self._typed_results | self._catches
        self._results = {name: kind for kind, names in table.get("results", {}).items() for name in names}
        self._common = frozenset(table.get("common", ()))
        self._blocks = bool(table.get("blocks"))
        self.placeholders = OF_BLOCK if self._blocks else EMPTY
        self._block = frozenset(table.get("block", ()))
        self._iterator = str(table.get("iterator", ""))
        self._iterates = frozenset(table.get("iterates", ()))
        self._of_elements = {name: method for method, names in table.get("of_elements", {}).items() for name in names}
        self._of_object = frozenset(table.get("of_object", ()))
        self._signs: Mapping[str, Sequence[str]] = table.get("operators", {})
        self._text = str(table.get("text", ""))
        self._prints = frozenset(table.get("prints", ()))

    @classmethod
    def of_language(cls, layout: Layout, spec: LanguageSpec) -> Self:
        """Create the rules from the `language.toml` of a language."""
        return cls(layout, spec)

    def is_of_block(self, name: str) -> bool:
        """Whether a variable of this name exists only in one block of code.

        The result is False for the name of a constant, and for a name that begins with a character in `shared_variables` of
        `language.toml`.
        """
        return not name[:1].isupper() and not name.startswith(self._shared_variables)

    def is_closed(self, definition: Definition) -> bool:
        """Whether a definition does not see the variables of the code around it.

        This is the case if its signature begins with the string `closed` in `language.toml`, such as `def` in Ruby.
        """
        return bool(self._closed) and definition.signature.startswith(self._closed)

    def is_mixin(self, definition: Definition) -> bool:
        """Whether a definition is a mixin, which gives its methods to classes.

        This is the case if its signature begins with the string `mixins` in `language.toml`, such as `module` in Ruby.
        """
        return self._mixins and definition.signature.startswith(self._mixin)

    def is_open_enum(self, definition: Definition) -> bool:
        """Whether the members of an enum are also names of the enclosing scope.

        `enum Color { RED }` defines RED in the enclosing scope. The members of an `enum class` are visible only inside.
        """
        return self._open_enums and not definition.signature.startswith(("enum class", "enum struct"))

    def is_standard_header(self, path: str) -> bool:
        """Return whether `<path>` is a header of the standard library or system.

        The table `headers` in `language.toml` lists these headers. An entry with a slash at the end stands for all headers in a folder.
        """
        return path in self._headers or path.partition("/")[0] + "/" in self._headers

    def builtin(self, name: str) -> Type:
        """Return the type of a type or function that the language defines."""
        is_known = name in self._types or name in self._functions or name in PSEUDO
        return one((EXT, self.builtin_package, name, None)) if is_known else EMPTY

    def accessors(self, name: str, kind: str) -> Sequence[str]:
        """Return the accessor methods in another language for a property.

        `kind` is `read` or `write`. In Kotlin, `item.price` calls `getPrice()` of a Java class, and `item.price = 1` calls `setPrice(…)`.
        """
        if not self._accessors:
            return ()
        plain = name.removeprefix("is") if name[:2] == "is" and name[2:3].isupper() else ""
        ending = plain or name[:1].upper() + name[1:]
        return (f"set{ending}",) if kind == "write" else (name,) if plain else (f"get{ending}",)

    def field_name(self, name: str) -> str:
        """Return the name of the variable that an attribute reads; "" for none.

        In Ruby, the attribute `size` reads the variable `@size`.
        """
        return f"{self._fields}{name}" if self._fields and not name.startswith(self._fields) else ""

    def sees_methods(self, entry: FileEntry) -> bool:
        """Return whether a file is a template, which can call helper methods."""
        return bool(self._templates) and entry.path.endswith(self._templates)

    def extended_by_parameter(self, definition: Definition) -> bool:
        """Whether a function extends the class of its first parameter.

        Such a function is called as a method. In C#, an example is `static int Words(this string text)`, called as `text.Words()`.
        """
        return self._extends == "parameter" and "extension" in definition.modifiers

    def converted_to(self, name: str) -> Sequence[str]:
        """Return the types to which the language converts a final type implicitly.

        A final type, such as `String` in Kotlin, has no subclasses.
        """
        return self._conversions.get(name, ())

    def containers_of(self, kind: str) -> Sequence[str]:
        """Return the names of the container types of a kind, such as `list`."""
        return tuple(name for name, (other, _) in self._containers.items() if other == kind)

    def is_common_name(self, name: str) -> bool:
        """Return whether the language's table lists a method name as common.

        Such a name does not identify a method.
        """
        return name in self._common
