"""Python's rules: packages and imports, receivers, annotations, decorators, and pytest's fixtures."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, EITHER, ENTER, INDEX, ITER, LIST, LITERAL, NAME, OPERATOR, STRING, TUPLE
from graphmem.resolution.language import Rules
from graphmem.resolution.project import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.python_library import (
    BINARY,
    BUILTIN_NAMES,
    CALLED_THROUGH,
    CALLS,
    COMMON_METHODS,
    REFLECTED,
    UNARY,
    container_method,
)
from graphmem.resolution.types import (
    BOX,
    CLASS,
    EMPTY,
    EXT,
    EXTI,
    FUNC,
    INST,
    MODULE,
    NAMESPACE,
    SELFTYPE,
    TYPEVAR,
    UNTYPED,
    Atom,
    Type,
    box,
    join,
    join_all,
    one,
    tuple_of,
)

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Definition, Import
    from graphmem.resolution.functions import Call
    from graphmem.resolution.inference import Inference
    from graphmem.resolution.layout import Layout
    from graphmem.resolution.names import Place
    from graphmem.resolution.project import FileEntry

_TYPING: Final = frozenset({"typing", "typing_extensions", "collections", "collections.abc", "builtins", "contextlib", "types"})

_SEQUENCES: Final = {
    **dict.fromkeys(("List", "list", "Sequence", "MutableSequence", "Collection", "Container", "deque", "Deque"), "list"),
    **dict.fromkeys(("Set", "set", "FrozenSet", "frozenset", "AbstractSet", "MutableSet", "KeysView"), "set"),
    **dict.fromkeys(("Iterable", "Iterator", "AsyncIterable", "AsyncIterator", "Generator", "AsyncGenerator", "Reversible"), "iter"),
    **dict.fromkeys(("ValuesView",), "iter"),
    **dict.fromkeys(("Awaitable", "Coroutine", "Future", "Task"), "await"),
    **dict.fromkeys(("ContextManager", "AsyncContextManager", "AbstractContextManager", "AbstractAsyncContextManager"), "enter"),
}
_MAPPINGS: Final = frozenset({"Dict", "dict", "Mapping", "MutableMapping", "DefaultDict", "OrderedDict", "defaultdict", "ChainMap"})
_OPEN: Final = frozenset({"Any", "object", "Callable", "Type", "type", "Hashable", "Generic", "Protocol"})
_TRANSPARENT: Final = frozenset({"Optional", "Union", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar"})
_SILENT: Final = frozenset({"Literal", "LiteralString", "NoReturn", "Never", "None", "TypeGuard", "TypeIs", "Concatenate", "Unpack"})
_VARIABLES: Final = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})


class PythonRules(Rules):
    """Python."""

    constructors = ("__new__", "__init__")
    call_method = "__call__"
    first_parameter_is_receiver = True
    fallback_method = "__getattr__"
    item_setters = ("__setitem__",)
    attribute_setter = "__setattr__"
    descriptor_methods: Mapping[str, str] = {"read": "__get__", "write": "__set__"}

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        # Not a cache of the module: what outlives the resolver keeps the memory of all facts from being given back.
        self._names: dict[str, Sequence[str]] = {}

    # modules and imports

    def module_names(self, path: str) -> Sequence[str]:
        """Dotted names seen from every folder above the file, declared import roots first."""
        found = self._names.get(path)
        if found is None:
            found = self._names[path] = _module_names(path, self.layout.python_roots, self.layout.root_package)
        return found

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """The modules of `import a.b` and `from ..a import b`; ties go to the one nearest to the importing file."""
        if not found.level:
            return self._absolute(inference, entry.path, found.module)
        folder = entry.path.split("/")[:-1]
        up = found.level - 1
        if up > len(folder):
            return EMPTY
        folder = folder[: len(folder) - up]
        if found.module:
            folder = [*folder, *found.module.split(".")]
        return self._at(inference, "/".join(folder))

    def _at(self, inference: Inference, place: str) -> Type:
        """The module or package whose file or folder is at a path without suffix."""
        for path in (f"{place}/__init__.py" if place else "__init__.py", f"{place}.py", f"{place}/__init__.pyi", f"{place}.pyi"):
            if inference.project.file(path) is not None:
                return one(MODULE, path)
        return one(NAMESPACE, place.replace("/", "."), "python")

    def _absolute(self, inference: Inference, importer: str, dotted: str) -> Type:
        project = inference.project
        paths = [path for path in project.modules(dotted) if self._is_importable(inference, path, dotted, importer)]
        if paths:
            return one(MODULE, nearest(paths, importer))
        package, _, rest = dotted.partition(".")
        if package not in sys.stdlib_module_names and project.is_folder(dotted):
            return one(NAMESPACE, dotted, "python")
        return one(EXT, package, rest)

    def _is_importable(self, inference: Inference, path: str, dotted: str, importer: str) -> bool:
        """True when the folder a dotted name would have to be looked up in is, or may be, on the import path.

        Declared roots are. Another folder is when it is no package itself, and either the importing file was
        found through it too, or what lies in it is a package whose name the standard library does not have.
        """
        if self.layout.root_package:
            return True  # every file has one name only
        root = _root_of(path, dotted)
        if root in self.layout.python_roots:
            return True
        if self._is_package(inference, root):
            return False
        top = dotted.partition(".")[0]
        return root == self._import_root(inference, importer) or (
            top not in sys.stdlib_module_names and self._is_package(inference, f"{root}/{top}")
        )

    def _is_package(self, inference: Inference, folder: str) -> bool:
        return inference.project.file(f"{folder}/__init__.py" if folder else "__init__.py") is not None

    def _import_root(self, inference: Inference, path: str) -> str:
        """The nearest folder above a file that is no package."""
        folder = path.rpartition("/")[0]
        while folder and self._is_package(inference, folder):
            folder = folder.rpartition("/")[0]
        return folder

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """`package.name`, by the folder of the package's file or by its dotted name."""
        if module[0] == MODULE:
            if not module[1].endswith(("__init__.py", "__init__.pyi")):
                return EMPTY
            place = module[1].rpartition("/")[0]
            found = self._at(inference, f"{place}/{name}" if place else name)
            if any(atom[0] == MODULE for atom in found):
                return found
            dotted = self.module_names(f"{place}/{name}/x.py")
            return next((one(NAMESPACE, d[:-2], "python") for d in dotted if inference.project.is_folder(d[:-2])), EMPTY)
        dotted_name = f"{module[1]}.{name}"
        paths = inference.project.modules(dotted_name)
        if paths:
            return one(MODULE, paths[0])
        found = self._at(inference, dotted_name.replace(".", "/"))
        if any(atom[0] == MODULE for atom in found):
            return found
        return one(NAMESPACE, dotted_name, "python") if inference.project.is_folder(dotted_name) else EMPTY

    def exported(self, entry: FileEntry, name: str) -> bool:
        """What `import *` brings: `__all__`, else everything public."""
        exports = entry.facts.exports
        return name in exports if exports is not None else not name.startswith("_")

    # scopes and receivers

    def builtin(self, name: str) -> Type:
        """Names of the module `builtins`."""
        return one(EXT, "builtins", name) if name in BUILTIN_NAMES else EMPTY

    def receiver(self, inference: Inference, symbol: Symbol) -> Type:
        """`self` is an instance, `cls` and the receiver of `__new__` is the class."""
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        owner = entry.symbols[definition.parent]
        if owner.kind not in CLASS_KINDS:
            return EMPTY
        if "classmethod" in definition.modifiers or symbol.name in ("__new__", "__init_subclass__", "__class_getitem__"):
            return one(CLASS, owner)
        return one(INST, owner, False)

    def is_super_call(self, entry: FileEntry, term: int) -> bool:
        """`super()` and `super(Class, self)`."""
        found = entry.terms[term]
        return bool(found[0] == CALL and entry.terms[found[1]] == (NAME, "super"))

    # types

    def declared(self, inference: Inference, entry: FileEntry, scope: int, term: int) -> Type:
        """Annotations: classes, aliases, the forms of `typing`."""
        found = entry.terms[term]
        op = found[0]
        if op in (NAME, ATTR):
            return self._named_type(inference, entry, scope, term)
        if op == INDEX:
            return self._generic(inference, entry, scope, found[1], found[2])
        if op == EITHER or (op == OPERATOR and found[1] == "|"):
            items = found[1] if op == EITHER else (found[2], found[3])
            return join_all(inference.declared(entry, scope, item) for item in items)
        if op in (LIST, TUPLE):
            return join_all(inference.declared(entry, scope, item) for item in found[1])
        if op == CALL:
            callee = self._objects(inference, entry, scope, found[1])
            if any(atom[0] == EXT and atom[2].rpartition(".")[2] == "NewType" for atom in callee) and len(found[2]) > 1:
                return inference.declared(entry, scope, found[2][1])
            return one(UNTYPED)
        return EMPTY if op in (LITERAL, STRING) else one(UNTYPED)

    def _named_type(self, inference: Inference, entry: FileEntry, scope: int, term: int) -> Type:
        found = EMPTY
        for atom in self._objects(inference, entry, scope, term):
            tag = atom[0]
            if tag == CLASS:
                found = join(found, one(INST, atom[1], False))
            elif tag == EXT:
                found = join(found, _external_type(atom))
            elif tag not in (MODULE, NAMESPACE, FUNC):
                found = join(found, frozenset((atom,)))
        return found

    def _objects(self, inference: Inference, entry: FileEntry, scope: int, term: int) -> Type:
        """What a name in an annotation stands for: classes, modules, `EXT`; the types an alias stands for."""
        found = entry.terms[term]
        if found[0] == ATTR:
            base = self._objects(inference, entry, scope, found[1])
            result = EMPTY
            for atom in base:
                if atom[0] == MODULE:
                    places = inference.module_places(atom[1], found[2])
                    result = join(result, self._placed(inference, places) if places else inference.module_member(atom, found[2]))
                elif atom[0] == CLASS:
                    result = join(result, self._nested(inference, atom[1], found[2]))
                elif atom[0] in (EXT, NAMESPACE):
                    result = join(result, inference.module_member(atom, found[2]))
            return result
        if found[0] != NAME:
            return EMPTY
        places = inference.lookup(entry, scope, found[1], 1 << 30)
        if places is None:
            return self.builtin(found[1])
        return self._placed(inference, places)

    def _nested(self, inference: Inference, owner: Symbol, name: str) -> Type:
        for candidate in inference.mro(owner):
            if isinstance(candidate, Symbol):
                entry = inference.project.entry(candidate)
                for slot in entry.names(candidate.index).get(name, ()):
                    if slot.kind == "definition" and entry.symbols[slot.index].kind in CLASS_KINDS:
                        return one(CLASS, entry.symbols[slot.index])
        return EMPTY

    def _placed(self, inference: Inference, places: Sequence[Place]) -> Type:
        found = EMPTY
        for entry, scope, slot in places:
            if slot.kind == "definition":
                symbol = entry.symbols[slot.index]
                if symbol.kind in CLASS_KINDS:
                    found = join(found, one(CLASS, symbol))
            elif slot.kind == "import":
                imported = entry.facts.imports[slot.index]
                ask = inference.project.solver.ask
                found = join(found, ask(entry.memo, ("I", slot.index), self._import_objects, inference, entry, imported))
            elif slot.kind == "binding":
                binding = entry.facts.bindings[slot.index]
                found = join(found, self._alias(inference, entry, scope, binding))
        return found

    def _import_objects(self, inference: Inference, entry: FileEntry, imported: Import) -> Type:
        modules = self.import_targets(inference, entry, imported)
        if not imported.name:
            return modules
        found = EMPTY
        for atom in modules:
            is_other = atom[0] == MODULE and atom[1] != entry.path
            places = inference.module_places(atom[1], imported.name) if is_other else None
            found = join(found, self._placed(inference, places) if places else inference.taken(entry, atom, imported.name))
        return found

    def _alias(self, inference: Inference, entry: FileEntry, scope: int, binding: Binding) -> Type:
        """`Name = type expression`, `T = TypeVar("T")`, `Name: TypeAlias = …`."""
        if binding.value < 0 or binding.op != "assign":
            return EMPTY
        value = entry.terms[binding.value]
        if value[0] == CALL:
            callee = entry.terms[value[1]]
            if callee[0] in (NAME, ATTR) and callee[-1] in _VARIABLES:
                return one(TYPEVAR, str(entry.terms[binding.target][1]))
            if callee[0] in (NAME, ATTR) and callee[-1] == "NewType":
                return inference.declared(entry, scope, binding.value)
            return EMPTY
        if value[0] in (NAME, ATTR):
            ask = inference.project.solver.ask
            return ask(entry.memo, ("o", scope, binding.value), self._objects, inference, entry, scope, binding.value)  # type: ignore[no-any-return]
        if value[0] in (INDEX, OPERATOR, EITHER):
            return inference.declared(entry, scope, binding.value)
        return EMPTY

    def _generic(self, inference: Inference, entry: FileEntry, scope: int, base: int, key: int) -> Type:
        """`Base[Key]`."""
        arguments = entry.terms[key][1] if entry.terms[key][0] == TUPLE else (key,)
        found = EMPTY
        for atom in self._objects(inference, entry, scope, base):
            if atom[0] == CLASS:
                found = join(found, one(INST, atom[1], False))
            elif atom[0] == EXT:
                found = join(found, self._external_generic(inference, entry, scope, atom, arguments))
            elif atom[0] not in (MODULE, NAMESPACE, FUNC):
                found = join(found, frozenset((atom,)))
        return found

    def _external_generic(self, inference: Inference, entry: FileEntry, scope: int, atom: Atom, arguments: Sequence[int]) -> Type:
        name = atom[2].rpartition(".")[2]
        if not _is_typing(atom):
            return one(EXTI, atom[1], atom[2])

        def part(position: int) -> Type:
            return inference.declared(entry, scope, arguments[position]) if position < len(arguments) else EMPTY

        if name == "Annotated" or name in ("Final", "ClassVar", "Required", "NotRequired"):
            return part(0)
        if name in _TRANSPARENT:
            return join_all(part(i) for i in range(len(arguments)))
        if name in ("Tuple", "tuple"):
            if len(arguments) == 2 and entry.terms[arguments[1]] == (LITERAL, "ellipsis"):
                return box("tuple", _open_is_empty(part(0)))
            return tuple_of([_open_is_empty(part(i)) for i in range(len(arguments))])
        if name in _MAPPINGS:
            return box("dict", _open_is_empty(part(0)), _open_is_empty(part(1)))
        if name == "Coroutine":
            return box("await", _open_is_empty(part(2)))
        if name in _SEQUENCES:
            return box(_SEQUENCES[name], _open_is_empty(part(0)))
        if name in ("Type", "type"):
            return join_all(_class_of(inner) for inner in part(0)) or one(UNTYPED)
        if name == "Callable":
            return join(one(UNTYPED), box("callable", _open_is_empty(part(len(arguments) - 1))))
        if name in _SILENT:
            return EMPTY if name != "Literal" else one(EXTI, "builtins", "str")
        return one(UNTYPED)

    def call_external(self, inference: Inference, atom: Atom, call: Call) -> Type | None:
        """The tables of `python_library`."""
        known = CALLS.get((atom[1], atom[2]))
        return known(inference, call) if known is not None else None

    def container_method(self, inference: Inference, container: Atom, name: str, call: Call) -> Type:
        """Methods of lists, dictionaries and the like."""
        return container_method(inference, container, name, call)

    def result(self, inference: Inference, symbol: Symbol, value: Type) -> Type:
        """Coroutines must be awaited, context managers entered."""
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        for decorator in definition.decorators:
            name = _last_name(entry, decorator)
            if name in ("contextmanager", "asynccontextmanager"):
                return box("enter", inference.element(inference.expanded(value)))
        if "async" in definition.modifiers and "generator" not in definition.modifiers:
            return box("await", value)
        return value

    def decorate(self, inference: Inference, entry: FileEntry, symbol: Symbol, decorator: int, current: Type) -> Type:
        """What a decorator of the project gives for the function; those of libraries are taken to give it back."""
        from graphmem.resolution.functions import Call

        scope = entry.definitions[symbol.index].parent
        line = entry.definitions[symbol.index].start_line
        found = EMPTY
        for atom in inference.expanded(inference.term(entry, scope, decorator, line)):
            call = Call(inference, entry, scope, line, passed=(current,))
            if atom[0] == FUNC:
                value = inference.substituted(inference.body_result(atom[1]), atom, call)
                found = join(found, frozenset(inner for inner in inference.expanded(value) if inner[0] in (FUNC, INST)))
            elif atom[0] == CLASS:
                found = join(found, one(INST, atom[1], True))
            elif atom[0] == BOX and atom[1] == "callable":  # declared to give objects of a class
                found = join(found, frozenset(inner for inner in atom[2][0] if inner[0] == INST))
        return found

    def implicit_argument(self, inference: Inference, symbol: Symbol, index: int) -> Type:
        """The fixture pytest passes to a test or to another fixture for a parameter of its name."""
        fixture = self._fixture(inference, symbol, index)
        if fixture is None:
            return EMPTY
        value = inference.returned(fixture)
        entry = inference.project.entry(fixture)
        if entry.yields.get(fixture.index):
            value = inference.element(value)
        return inference.awaited(inference.expanded(value))

    def implicit_calls(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """The fixtures a test asks for."""
        if symbol.kind not in FUNCTION_KINDS:
            return ()
        parameters = inference.project.definition(symbol).parameters
        found = [self._fixture(inference, symbol, index) for index in range(len(parameters))]
        return [fixture for fixture in found if fixture is not None]

    def _fixture(self, inference: Inference, symbol: Symbol, index: int) -> Symbol | None:
        """The fixture of a parameter: of the test's class, its module, then the `conftest.py` files above it."""
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        parameter = definition.parameters[index]
        if not (definition.name.startswith("test") or is_fixture(entry, symbol)) or parameter.default >= 0:
            return None
        parent = definition.parent
        if parent >= 0 and entry.definitions[parent].kind in CLASS_KINDS:
            if index == 0:
                return None
            owner = inference.owner(entry.symbols[parent], parameter.name)
            if isinstance(owner, Symbol):
                found = self._fixture_in(inference, owner.path, owner.index, parameter.name, symbol)
                if found is not None:
                    return found
        folder = entry.path
        paths = [entry.path]
        while folder:
            folder = folder.rpartition("/")[0]
            paths.append(f"{folder}/conftest.py" if folder else "conftest.py")
        for path in paths:
            if path == entry.path or inference.project.file(path) is not None:
                found = self._fixture_in(inference, path, 0, parameter.name, symbol)
                if found is not None:
                    return found
        return None

    def _fixture_in(self, inference: Inference, path: str, scope: int, name: str, asking: Symbol) -> Symbol | None:
        entry = inference.project.files[path]
        if scope == 0:
            inference.project.touch("top", path, name)
            places = inference.module_places(path, name) or []
        else:
            inference.project.touch("top", path, entry.top_name(scope))
            places = []
            for slot in entry.names(scope).get(name, ()):
                if slot.kind == "definition" and is_fixture(entry, entry.symbols[slot.index]) and entry.symbols[slot.index] is not asking:
                    return entry.symbols[slot.index]
        for place in reversed(places):
            atoms = inference.slot(place) if place.slot.kind == "import" else EMPTY
            symbols = [place.entry.symbols[place.slot.index]] if place.slot.kind == "definition" else []
            symbols += [atom[1] for atom in atoms if atom[0] == FUNC]
            for symbol in symbols:
                if symbol is not asking and is_fixture(inference.project.entry(symbol), symbol):
                    return symbol
        return None

    def class_value(self, inference: Inference, owner: Symbol, binding: Binding, value: Type) -> Type:
        """Members of enumerations are instances of their class; descriptors give what `__get__` returns."""
        if binding.annotation < 0 and inference.is_enum(owner):
            return one(INST, owner, True)
        found = EMPTY
        for atom in inference.expanded(value):
            if atom[0] == INST and isinstance(inference.owner(atom[1], "__get__"), Symbol):
                found = join(found, inference.method_result(atom, "__get__"))
            else:
                found = join(found, frozenset((atom,)))
        return found

    def operations(self, entry: FileEntry, term: int) -> Sequence[tuple[int, str]]:
        """The special methods behind loops, `with`, subscripts and operators."""
        found = entry.terms[term]
        if found[0] == ITER:
            return ((found[1], "__iter__"), (found[1], "__aiter__"))
        if found[0] == ENTER:
            return tuple((found[1], name) for name in ("__enter__", "__exit__", "__aenter__", "__aexit__"))
        if found[0] == INDEX:
            return ((found[1], "__getitem__"),)
        if found[0] != OPERATOR:
            return ()
        if found[1] in ("in", "not in"):
            return ((found[3], "__contains__"),)
        if found[3] < 0:
            return ((found[2], UNARY[found[1]]),) if found[1] in UNARY else ()
        name = BINARY.get(found[1])
        if name is None:
            return ()
        reflected = REFLECTED.get(name, f"__r{name[2:]}")
        return ((found[2], name), (found[3], reflected))

    def next_step(self, name: str) -> str:
        """Iterators are asked for the next element."""
        return {"__iter__": "__next__", "__aiter__": "__anext__"}.get(name, "")

    def runs_on_definition(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """The metaclass makes the class; `__init_subclass__` of a base hears of it."""
        found: list[Symbol] = []
        for metaclass in self._metaclasses(inference, symbol):
            for name in ("__new__", "__init__"):
                owner = inference.owner(metaclass, name)
                if isinstance(owner, Symbol):
                    found += inference.functions(owner, name)
        owner = inference.owner(symbol, "__init_subclass__", after=symbol)
        if isinstance(owner, Symbol):
            found += inference.functions(owner, "__init_subclass__")
        return found

    def _metaclasses(self, inference: Inference, symbol: Symbol) -> list[Symbol]:
        """The metaclass the first class of the look-up order names; none when it is not of the project."""
        for candidate in inference.mro(symbol):
            if not isinstance(candidate, Symbol):
                continue
            entry = inference.project.entry(candidate)
            definition = entry.definitions[candidate.index]
            for keyword, term in definition.bases:
                if keyword == "metaclass":
                    atoms = inference.expanded(inference.term(entry, definition.parent, term, definition.start_line))
                    return sorted((atom[1] for atom in atoms if atom[0] == CLASS), key=lambda s: s.place)
        return []

    def called_through(self, package: str, dotted: str) -> Sequence[str]:
        """What `len`, `next`, `str` and their like call."""
        return CALLED_THROUGH.get(dotted, ()) if package == "builtins" else ()

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """Whether the arguments fit: not too many, none unknown, none missing."""
        parameters = list(definition.parameters)
        if bound and definition.kind == "method" and "static" not in definition.modifiers:
            parameters = parameters[1:]
        kinds = {parameter.kind for parameter in parameters}
        places = [parameter for parameter in parameters if parameter.kind in ("normal", "positional")]
        if positional > len(places) and "rest" not in kinds:
            return False
        if "**" in keywords:
            return True
        names = {parameter.name for parameter in parameters if parameter.kind in ("normal", "keyword")}
        if "keyword_rest" not in kinds and any(keyword not in names for keyword in keywords):
            return False
        given = {parameter.name for parameter in places[:positional]} | set(keywords)
        needed = [p for p in parameters if p.default < 0 and p.kind in ("normal", "positional", "keyword")]
        return all(parameter.name in given for parameter in needed)

    def is_common_name(self, name: str) -> bool:
        """Names of methods of the builtin types."""
        return name in COMMON_METHODS


def is_fixture(entry: FileEntry, symbol: Symbol) -> bool:
    """True for a function that pytest runs because tests ask for it by name."""
    return any(_last_name(entry, d) in ("fixture", "yield_fixture") for d in entry.definitions[symbol.index].decorators)


def _last_name(entry: FileEntry, term: int) -> str:
    found = entry.terms[term]
    if found[0] == CALL:
        found = entry.terms[found[1]]
    return str(found[-1]) if found[0] in (NAME, ATTR) else ""


def _open_is_empty(value: Type) -> Type:
    return frozenset(atom for atom in value if atom[0] != UNTYPED)


def _class_of(atom: Atom) -> Type:
    if atom[0] == INST:
        return one(CLASS, atom[1])
    if atom[0] == EXTI:
        return one(EXT, atom[1], atom[2])
    if atom[0] in (TYPEVAR, SELFTYPE):
        return box("class", frozenset((atom,)))
    return EMPTY


def _is_typing(atom: Atom) -> bool:
    module = atom[1] if not atom[2].rpartition(".")[0] else f"{atom[1]}.{atom[2].rpartition('.')[0]}"
    return module in _TYPING


def _external_type(atom: Atom) -> Type:
    """The instance type a class outside stands for in an annotation."""
    name = atom[2].rpartition(".")[2]
    if _is_typing(atom):
        if name == "Self":
            return one(SELFTYPE)
        if name in _OPEN:
            return one(UNTYPED)
        if name in _SILENT:
            return EMPTY
        if name in _MAPPINGS:
            return box("dict", EMPTY, EMPTY)
        if name in _SEQUENCES:
            return box(_SEQUENCES[name], EMPTY)
        if name in ("Tuple", "tuple"):
            return box("tuple", EMPTY)
    return one(EXTI, atom[1], atom[2])


def nearest(paths: Sequence[str], importer: str) -> str:
    """The path that shares most folders with the importing file; the first of equals."""
    folders = importer.split("/")[:-1]

    def shared(path: str) -> int:
        count = 0
        for left, right in zip(folders, path.split("/")[:-1], strict=False):
            if left != right:
                break
            count += 1
        return count

    return min(paths, key=lambda path: (-shared(path), path.endswith(".pyi"), len(path), path))


def _module_names(path: str, roots: Sequence[str], root_package: str) -> tuple[str, ...]:
    stem = path.rpartition(".")[0]
    if stem.endswith("/__init__") or stem == "__init__":
        stem = stem[: -len("/__init__")] if "/" in stem else ""
    if root_package:
        inside = stem.replace("/", ".")
        return (f"{root_package}.{inside}" if inside else root_package,)
    if not stem:
        return ()
    parts = stem.split("/")
    below = [".".join(parts[count:]) for count in range(len(parts))]
    declared = [stem[len(root) + 1 if root else 0 :].replace("/", ".") for root in roots if not root or stem.startswith(root + "/")]
    return tuple(dict.fromkeys([*sorted(declared, key=len), *below]))


def _root_of(path: str, dotted: str) -> str:
    """The folder in which a dotted name leads to a path."""
    stem = path.rpartition(".")[0].removesuffix("/__init__")
    return stem[: -len(dotted)].rstrip("/")


RULES = PythonRules
