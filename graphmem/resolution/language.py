"""The seam for languages: what `inference` asks about names, modules, receivers and what lies outside.

A language is one subclass of `Rules` (see `python/rules.py`), registered in `_MODULES` under the name its
`language.toml` gives as `rules`. Everything has a default, so a language may start with `module_names` and
`import_targets` alone. Rules keep no state about files: whatever they read of other files goes through
`inference.project`, which records it as an input.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import CALL, NAME, SELF, SUPER
from graphmem.resolution.symbol import CLASS_KINDS
from graphmem.resolution.terms import children
from graphmem.resolution.types import (
    EMPTY,
    EXT,
    Atom,
    Base,
    Container,
    Ext,
    ExtInstance,
    Func,
    Instance,
    Module,
    Namespace,
    Outside,
    Receiver,
    SuperObject,
    Type,
    one,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Definition, FileFacts, Import, Reference, Term
    from graphmem.parsing.language import LanguageSpec
    from graphmem.resolution.call import Call
    from graphmem.resolution.file_entry import FileEntry, FileRules, Place
    from graphmem.resolution.inference import Inference
    from graphmem.resolution.layout import Layout
    from graphmem.resolution.symbol import Symbol


class Rules:
    """The defaults: lexical scopes, classes with `this`, nothing known outside.

    Args:
        layout: what the project's configuration files say.
    """

    constructors: Sequence[str] = ()
    """Methods that run when a class is called, in the order they run."""

    call_method: str = ""
    """Method that runs when an instance is called; "" where instances cannot be."""

    first_parameter_is_receiver: bool = False
    """True where methods name their receiver (`self`), False where it is a word of the language (`this`)."""

    class_scope_is_visible: bool = False
    """True where code inside a method sees the names of its class without a prefix."""

    fallback_method: str = ""
    """Method that answers for attributes that do not exist; "" for none."""

    item_setters: Sequence[str] = ()
    """Methods that run when an item is assigned through a subscript."""

    item_method: str = ""
    """Method of a class that runs when an item of its objects is taken through a subscript; "" for none."""

    attribute_setter: str = ""
    """Method of a class that runs when any attribute of its objects is assigned; "" for none."""

    descriptor_methods: Mapping[str, str] = {}
    """Methods of a class attribute's own class that run when it is used through an object, by `read` and `write`."""

    interfaces_are_structural: bool = False
    """True where a class satisfies an interface by having its methods."""

    this_is_implied: bool = False
    """True where code inside a class sees the members of the class, inherited ones too, without a prefix."""

    has_overloads: bool = False
    """True where functions of one name are told apart by their parameters."""

    class_calls_are_virtual: bool = True
    """True where a call on the class itself may run what a subclass puts in its place."""

    functions_take_types: bool = False
    """True where a function or a type in front of brackets is given types in them, and no element is taken: `Map[int](…)`."""

    decorators_are_types: bool = False
    """True where what stands before a definition is no function that is called, but a type that says something of it (`@Named("x")`)."""

    types_are_declared: bool = False
    """True where every variable, parameter and result has a declared type, or the type of what it is first given."""

    methods_are_inputs: bool = False
    """True where what a method says is an input of its own, so that a change of it is not one of everything its class says.

    Whatever rules read of a method of another file must then be asked of `project.entry(method)` or `project.definition(method)`,
    besides its kind, modifiers, decorators and place in the class."""

    own_names_are_below: bool = True
    """True where what a file takes from itself is a module below it (`from . import x` in a package)."""

    classes_are_made_by_name: bool = False
    """True where `is_made` asks whether any file calls a class or uses it as a value."""

    libraries_give_anything: bool = False
    """True where what a library's function gives may be an object of the project, so that its methods may be found by name."""

    libraries_hand_back: bool = False
    """True where a library that is given a class of the project as a type argument may give objects of it: `Pointer[T].Load()`."""

    type_tests: Collection[str] = ()
    """Functions that ask whether something is an instance of their second argument."""

    builtin_package: str = "builtins"
    """Package of the names every file sees."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    @classmethod
    def of_language(cls, layout: Layout, spec: LanguageSpec) -> Rules:
        """The rules for the files of one language; those that serve several look into its table."""
        return cls(layout)

    # modules and imports

    def module_names(self, path: str) -> Sequence[str]:
        """Every dotted (or slashed) name under which other files may import the file at a path; the best first."""
        return ()

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """The same as `module_names`, for languages whose files say what they belong to."""
        return self.module_names(facts.path)

    def shared_names(self, entry: FileEntry) -> Sequence[str]:
        """Names of a file that other files of the same module name see; see `shared`."""
        return ()

    def shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        """What a name the file does not bind means, because files of one package share their names."""
        return None

    def package_files(self, inference: Inference, package: Namespace, name: str) -> list[Module]:
        """`MODULE` atoms of the files of a `NAMESPACE` that bind a name; of all that importers see for ""."""
        return []

    def is_open_enum(self, definition: Definition) -> bool:
        """True of an enum whose members are names of the scope around it."""
        return False

    def type_names(self, name: str) -> Sequence[str]:
        """The names under which a scope keeps what a name means as a type."""
        return (name,)

    def parts_of_type(self, inference: Inference, entry: FileEntry, scope: int, found: Term) -> Iterable[int]:
        """Of a term of an annotation that is no name, the terms in which types can be named; of a call what it is given."""
        return found[2] if found[0] == CALL else children(found)

    def owner_in_type(self, inference: Inference, found: Term, value: Type) -> Type:
        """What stands before a dot in an annotation, of the value it would be elsewhere."""
        return value

    def value_in_type(self, entry: FileEntry, found: Term) -> int:
        """The value whose type a term of an annotation asks for (`typeof value`); -1 for none."""
        return -1

    def is_type_variable(self, entry: FileEntry, position: int) -> bool:
        """True of a binding by which a variable stands for a type (`Alias = dict[str, int]`)."""
        return False

    def passes_on(self, entry: FileEntry, found: Import) -> bool:
        """True of an import by which a file gives one name to others: they may import it from here."""
        return False

    def given(self, inference: Inference, entry: FileEntry, name: str) -> tuple[Sequence[str], Sequence[Import]]:
        """By what a file gives a name to others: names of its own, and imports, of which the first that leads anywhere counts."""
        return (name,), ()

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """The module an import statement names, before any name is taken from it.

        `MODULE`, `NAMESPACE` and `EXT` atoms; look-ups through `inference.project` only.
        """
        return EMPTY

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """A module below a module, as `MODULE` or `NAMESPACE` atoms."""
        return EMPTY

    def exported(self, entry: FileEntry, name: str) -> bool:
        """True when importing everything from this file brings this name."""
        return not name.startswith("_")

    def module_value(self, inference: Inference, module: FileEntry, name: str) -> Type | None:
        """What a module gives to others under a name, where that is not simply the name's value; None where it is."""
        return None

    def taken(self, inference: Inference, module: Atom, name: str) -> Type:
        """What an import takes from a module under a name."""
        return inference.module_member(module, name)

    def whole_module(self, inference: Inference, module: Atom) -> Type:
        """What a name is bound to that stands for a whole module."""
        return frozenset((module,))

    # scopes and receivers

    def definition_slot(self, entry: FileEntry, position: int) -> tuple[int, str]:
        """The scope in which a definition is found, and the name by which."""
        definition = entry.definitions[position]
        return definition.parent, definition.name

    def scopes_around(self, definitions: Sequence[Definition]) -> Sequence[int]:
        """Of each definition of a file the scope it is written in; -1 for the module."""
        return [definition.parent for definition in definitions]

    def is_visible(self, entry: FileEntry, scope: int) -> bool:
        """True where code inside a scope sees the names it binds without a prefix."""
        return self.class_scope_is_visible or entry.definitions[scope].kind not in ("class", "interface", "enum")

    def this(self, inference: Inference, entry: FileEntry, scope: int) -> Type:
        """What `this` is in a scope."""
        method = entry.enclosing(scope, ("method",))
        return self.receiver(inference, entry.symbols[method]) if method >= 0 else EMPTY

    def base(self, inference: Inference, entry: FileEntry, symbol: Symbol, term: int) -> Type:
        """What a base named in the header of a class stands for."""
        definition = entry.definitions[symbol.index]
        return inference.expanded(inference.term(entry, definition.parent, term, definition.start_line))

    def members_elsewhere(self, inference: Inference, owner: Symbol, name: str) -> Sequence[Place]:
        """Members of a class that are defined outside of it, in its own file or in others."""
        return ()

    def more_bases(self, inference: Inference, symbol: Symbol) -> Sequence[Base]:
        """What a class derives from besides what its header says: symbols and `EXT` atoms."""
        return ()

    def missing_member(self, receiver: Receiver, name: str) -> Type:
        """What a member is that neither a class nor its bases define."""
        return EMPTY

    def member_outside(self, inference: Inference, receiver: Receiver, base: Ext, name: str) -> Type:
        """What a member is that no class of the project defines, where the first base outside the project may."""
        return one((EXT, base[1], f"{base[2]}.{name}" if base[2] else name, None))

    def satisfied(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Interfaces a class satisfies without naming them."""
        return ()

    def satisfied_methods(self, inference: Inference, method: Symbol) -> Sequence[Symbol]:
        """Methods of such interfaces that a method stands for."""
        return ()

    def is_made(self, inference: Inference, symbol: Symbol) -> bool:
        """False for a class of which nobody can make objects, so that its methods only run in those of subclasses."""
        return True

    def is_protocol(self, inference: Inference, symbol: Symbol) -> bool:
        """True for a class whose methods say what others must have; they only run where somebody inherits them."""
        return False

    def is_virtual(self, symbol: Symbol) -> bool:
        """False for a class whose methods run as they are, whatever derives from it."""
        return True

    def given_bases(self, inference: Inference, entry: FileEntry, symbol: Symbol) -> Type:
        """Bases a class gets elsewhere than in its header."""
        return EMPTY

    def is_member_of(self, entry: FileEntry, position: int, receiver: Receiver | SuperObject) -> bool:
        """False for a definition in a class that the class itself, or an instance of it, does not have."""
        return True

    def bound(self, inference: Inference, entry: FileEntry, binding: Binding, value: Type) -> Type:
        """The value of a variable, from the value of the expression it is given."""
        return value

    def function_attribute(self, inference: Inference, function: Func, name: str) -> Type:
        """An attribute of a function."""
        return EMPTY

    def constructed(self, inference: Inference, function: Symbol) -> Type:
        """What `new` makes of a function."""
        return EMPTY

    def builtin(self, name: str) -> Type:
        """The value of a name no scope of the project defines."""
        return EMPTY

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """The value of a name no scope defines, where that depends on the file."""
        return self.builtin(name)

    def receiver_class(self, entry: FileEntry, scope: int, base: int) -> int:
        """The class whose instance the term `base` is inside this scope, when the scope is one of its methods; else -1."""
        term = entry.terms[base]
        if term[0] != SELF and not (self.first_parameter_is_receiver and term[0] == NAME):
            return -1
        method = entry.enclosing(scope, ("method",))
        if method < 0:
            return -1
        definition = entry.definitions[method]
        if term[0] == NAME:
            parameters = definition.parameters
            if "static" in definition.modifiers or not parameters or parameters[0].name != term[1]:
                return -1
        return definition.parent

    def receiver(self, inference: Inference, symbol: Symbol) -> Type:
        """What a method's receiver is: an instance of its class, or the class."""
        return EMPTY

    def is_super_call(self, entry: FileEntry, term: int) -> bool:
        """True when a term stands for the receiver seen as its base class."""
        return bool(entry.terms[term][0] == SUPER)

    # types

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: int) -> Type:
        """The type an annotation names; with `UNTYPED` in it when it leaves something open."""
        return EMPTY

    def call_external(self, inference: Inference, atom: Outside, call: Call) -> Type | None:
        """What calling something outside the project gives, where the library is known; None where it is not."""
        return None

    def given_outside(self, inference: Inference, atom: Outside, call: Call) -> Collection[Symbol]:
        """Classes of the project of which something outside may give objects because a call of it is given them."""
        return ()

    def container_method(self, inference: Inference, container: Container, name: str, call: Call) -> Type:
        """What a method of a list, dictionary … gives."""
        return EMPTY

    def result(self, inference: Inference, symbol: Symbol, value: Type) -> Type:
        """What calling a function gives, from what its body returns or declares: wraps results of coroutines and the like."""
        return value

    def decorate(self, inference: Inference, entry: FileEntry, symbol: Symbol, decorator: int, current: Type) -> Type:
        """What a decorator adds to the things the decorated name may be."""
        return EMPTY

    def implicit_argument(self, inference: Inference, symbol: Symbol, index: int) -> Type:
        """What a framework passes for a parameter nobody passes in the source (test fixtures)."""
        return EMPTY

    def implicit_calls(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Functions a framework runs for a definition because of how it is written (test fixtures)."""
        return ()

    def class_value(self, inference: Inference, owner: Symbol, binding: Binding, value: Type) -> Type:
        """The type of a class attribute as its instances see it (members of enumerations, descriptors)."""
        return value

    def operations(self, entry: FileEntry, term: int) -> Sequence[tuple[int, str]]:
        """Methods the language calls for an operator, a subscript, a loop or a block: (term of the receiver, name)."""
        return ()

    def implied(self, inference: Inference, entry: FileEntry, reference: Reference) -> Iterable[tuple[Symbol, int]]:
        """What the language runs besides at a call or an operation, where more than a name decides: a function, among how many it was."""
        return ()

    def operated(self, inference: Inference, receiver: Instance, sign: str, *, is_unary: bool) -> Type:
        """What an operator gives whose left, or only, operand is an object of a class."""
        return EMPTY

    def iterated(self, inference: Inference, receiver: Instance) -> Type:
        """One element of an object of a class."""
        return EMPTY

    def next_step(self, name: str) -> str:
        """The method called again and again on what a special method gave; "" for none."""
        return ""

    def implied_class(self, inference: Inference, entry: FileEntry, scope: int) -> Symbol | None:
        """The class whose members a scope sees without a prefix, where it is one or stands apart from one."""
        return entry.symbols[scope] if entry.definitions[scope].kind in CLASS_KINDS else None

    def scripts(self, facts: FileFacts) -> Mapping[str, str]:
        """Names in a file that configuration files call commands or plug-ins, with the kind of entry point; "" is the file itself."""
        return {}

    def runs_on_definition(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Functions of the project the language runs when it comes to the definition of a class."""
        return ()

    def called_through(self, package: str, dotted: str) -> Sequence[str]:
        """Methods a function outside the project calls on its first argument."""
        return ()

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """True when a call with so many arguments can be meant for this definition."""
        return True

    def may_be(self, given: Instance | ExtInstance, classes: Collection[Symbol], outside: Collection[tuple[str, str]]) -> bool:
        """False when something from outside cannot be passed for a parameter of these types."""
        return True

    def sees_globals(self, entry: FileEntry) -> bool:
        """True when a name that nothing in sight defines may still be one that another file defines."""
        return True

    def is_common_name(self, name: str) -> bool:
        """True for method names of the language's own types, which say nothing about who is meant."""
        return False


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
