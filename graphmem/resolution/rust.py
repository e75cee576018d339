"""The rules of Rust: crates and modules, implementations apart from their types, traits, what the library wraps."""

# ruff: noqa: SIM905

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from graphmem.parsing.facts import ATTR
from graphmem.resolution.names import Place
from graphmem.resolution.packages import PackageRules, mapped
from graphmem.resolution.project import CLASS_KINDS, Symbol
from graphmem.resolution.types import BOX, BUILTIN, CLASS, EMPTY, EXT, INST, MODULE, Atom, Type, box, join_all, one, tuple_of

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding, Definition, FileFacts, Import
    from graphmem.resolution.functions import Call
    from graphmem.resolution.inference import Inference
    from graphmem.resolution.layout import Layout
    from graphmem.resolution.project import FileEntry

_PRELUDE: Final = (
    "AsMut AsRef Box Clone Copy Default DoubleEndedIterator Drop Eq Err ExactSizeIterator Extend Fn FnMut FnOnce From Into IntoIterator "
    "Iterator None Ok Option Ord PartialEq PartialOrd Result Send Sized Some String Sync ToOwned ToString TryFrom TryInto Unpin Vec bool "
    "char drop f32 f64 i128 i16 i32 i64 i8 isize str u128 u16 u32 u64 u8 usize"
).split()
_MACROS: Final = (
    "assert assert_eq assert_ne cfg column compile_error concat dbg debug_assert debug_assert_eq debug_assert_ne env eprint eprintln file "
    "format format_args include_bytes include_str line matches module_path option_env panic print println stringify thread_local todo "
    "try unimplemented unreachable vec write writeln"
).split()
_LIBRARIES: Final = frozenset("alloc core proc_macro std test".split())

_SAME: Final = frozenset(
    "? as_mut as_ref as_deref as_deref_mut as_slice as_str borrow borrow_mut by_ref chain clone cloned collect copied deref deref_mut "
    "downgrade drain expect filter fuse get_mut get_ref inspect into into_inner into_iter iter iter_mut lock or peekable read rev skip "
    "skip_while sort step_by take take_while to_owned to_vec unwrap unwrap_or unwrap_or_default unwrap_or_else upgrade write".split()
)
"""Methods that give their receiver, or what it wraps, as far as members are concerned."""

_UNWRAPS: Final = frozenset(
    "? expect get_or_insert get_or_insert_with insert unwrap unwrap_or unwrap_or_default unwrap_or_else unwrap_unchecked".split()
)
_TO_OPTION: Final = frozenset(
    "find first first_mut get get_mut last last_mut max max_by_key min min_by_key next next_back nth peek pop pop_back pop_front "
    "remove".split()
)
_MAKERS: Final = frozenset("Borrowed Owned clone downgrade from new pin".split())


class RustRules(PackageRules):
    """Rust, with crates as their `Cargo.toml` files name them."""

    name = "rust"
    builtin_package = "std"
    builtin_types: ClassVar = frozenset(_PRELUDE)
    builtin_functions: ClassVar = frozenset(_MACROS)
    class_calls_are_virtual = False
    own_names_are_below = False
    containers: ClassVar = {
        **dict.fromkeys("[] BTreeSet BinaryHeap HashSet IndexSet IntoIter Iter LinkedList Vec VecDeque".split(), ("list", (0,))),
        **dict.fromkeys("BTreeMap HashMap IndexMap".split(), ("map", (0, 1))),
        "Option": ("option", (0,)),
        "Result": ("result", (0, 1)),
    }
    transparent: ClassVar = frozenset(
        "Arc Box Cell Cow LazyLock ManuallyDrop Mutex MutexGuard OnceCell OnceLock Pin Rc Ref RefCell RefMut RwLock RwLockReadGuard "
        "RwLockWriteGuard Weak".split()
    )
    common_names: ClassVar = frozenset(
        "as_mut as_ref as_str build borrow clone cmp collect contains default drop eq extend filter find first flush fmt from get get_mut "
        "hash id insert into is_empty iter join kind last len lock map name new next parse path pop push read remove send set sort split "
        "start take to_string to_owned trim unwrap value write".split()
    )

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._folders: dict[str, str] = {}  # folder of a package -> name of its crate
        self._roots: dict[str, str] = {}  # name of a crate -> file with its root module
        self._outside: dict[str, str] = {}  # name in the source -> package outside
        self._targets: dict[str, str] = {}  # file that is the root of a crate of its own -> name of that crate
        manifests = [
            (path.rpartition("/")[0], document) for path, document in layout.documents.items() if path.rpartition("/")[2] == "Cargo.toml"
        ]
        for folder, document in manifests:
            self._read(folder, document)

    def _read(self, folder: str, document: Any) -> None:
        """What one `Cargo.toml` says."""
        package = document.get("package")
        if isinstance(package, dict) and isinstance(package.get("name"), str):
            library = document.get("lib")
            library = library if isinstance(library, dict) else {}
            crate = str(library.get("name", package["name"])).replace("-", "_")
            self._folders[folder] = crate
            self._roots[crate] = _below(folder, str(library.get("path", "src/lib.rs")))
            self._targets[self._roots[crate]] = crate
            for kind in ("bin", "example", "test", "bench"):
                for target in document.get(kind, ()) if isinstance(document.get(kind), list) else ():
                    if isinstance(target, dict) and isinstance(target.get("path"), str):
                        self._targets[_below(folder, target["path"])] = f"{crate}:{target.get('name', kind)}"
        for table in ("dependencies", "dev-dependencies", "build-dependencies"):
            wanted = document.get(table)
            for name, value in wanted.items() if isinstance(wanted, dict) else ():
                renamed = value.get("package", name) if isinstance(value, dict) else name
                self._outside[str(name).replace("-", "_")] = str(renamed).replace("-", "_")

    # modules

    def module_names(self, path: str) -> Sequence[str]:
        """The module's path from its crate, and a name that all modules of the crate share."""
        crate, parts = self._place(path)
        return ("::".join((crate, *parts)), f"{crate}::*")

    def names_of(self, facts: FileFacts) -> Sequence[str]:
        """As `module_names`."""
        return self.module_names(facts.path)

    def _place(self, path: str) -> tuple[str, tuple[str, ...]]:
        """The crate of a file, and where in its tree of modules the file is."""
        known = self._targets.get(path)
        if known is not None:
            return known, ()
        folder = path.rpartition("/")[0]
        home = folder
        while home not in self._folders and home:
            home = home.rpartition("/")[0]
        crate = self._folders.get(home, home.replace("/", "_") or "crate")
        below = (path[len(home) :].strip("/") if home else path).removesuffix(".rs").split("/")
        if below[0] in ("tests", "examples", "benches") and len(below) > 1:
            return self._own_crate(f"{crate}:{below[0]}:{below[1]}", below[2:])
        for target, name in self._targets.items():  # modules beside the root of another target
            root = target.rpartition("/")[0]
            if root and name != crate and root != _below(home, "src") and path.startswith(f"{root}/"):
                return self._own_crate(name, path[len(root) + 1 :].removesuffix(".rs").split("/"))
        if below[0] == "src":
            below = below[1:]
        if below[0] == "bin" and len(below) > 1:
            return self._own_crate(f"{crate}:{below[1]}", below[2:])
        if below == ["main"]:
            return (crate if self._roots.get(crate) is None else f"{crate}:main"), ()
        return self._own_crate(crate, below)

    def _own_crate(self, crate: str, below: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        parts = tuple(below)
        if parts and parts[-1] in ("mod", "lib", "main"):
            parts = parts[:-1]
        return crate, parts

    def shared_names(self, entry: FileEntry) -> Sequence[str]:
        """Only the methods of types that may be defined elsewhere."""
        kept: tuple[str, ...] | None = entry.kept.get("shared names")
        if kept is None:
            apart = [name for name in entry.names(0) if "." in name]
            kept = entry.kept["shared names"] = tuple(sorted({*apart, *(f"{name.rpartition('.')[0]}." for name in apart)}))
        return kept

    def package_files(self, inference: Inference, package: Atom, name: str) -> list[Atom]:
        """Modules are files."""
        return []

    def import_targets(self, inference: Inference, entry: FileEntry, found: Import) -> Type:
        """The module, or the type, that the path of a `use` names."""
        ask = inference.project.solver.ask
        key = ("module", found.scope, found.module, found.kind)
        return ask(entry.memo, key, self._path, inference, entry, found.scope, found.module.split("::"), found.alias)  # type: ignore[no-any-return]

    def _path(self, inference: Inference, entry: FileEntry, scope: int, parts: Sequence[str], alias: str) -> Type:
        first = parts[0]
        here = entry.enclosing(scope, ("class",))
        if first == "self":
            current = self._around(inference, entry, here)
            if len(parts) == 2:  # `mod name;` is a file of its own, whatever else has that name here
                file = join_all(self.submodule(inference, atom, parts[1]) for atom in current)
                if file:
                    return file
        elif first in ("crate", "super"):
            current = self._above(inference, entry, here) if first == "super" else self._root(entry.path)
        elif first in self._roots:
            current = one(MODULE, self._roots[first])
        elif first == alias and len(parts) == 1:
            return self.builtin(first) or one(EXT, first, "")
        else:
            places = inference.lookup(entry, scope, first, 1 << 30)
            current = join_all(inference.slot(place) for place in places) if places else self.builtin(first)
            if not current:
                return one(EXT, first, ".".join(parts[1:]))
        for part in parts[1:]:
            if part == "super":
                current = join_all(self._parent(inference, atom) for atom in current)
            elif part != "self":
                current = inference.attribute(current, part)
        return inference.expanded(current)

    def _around(self, inference: Inference, entry: FileEntry, here: int) -> Type:
        return one(CLASS, entry.symbols[here]) if here > 0 and _is_module(entry, here) else one(MODULE, entry.path)

    def _above(self, inference: Inference, entry: FileEntry, here: int) -> Type:
        if here <= 0 or not _is_module(entry, here):
            return self._parent(inference, (MODULE, entry.path))
        parent = entry.definitions[here].parent
        return one(CLASS, entry.symbols[parent]) if parent > 0 else one(MODULE, entry.path)

    def _parent(self, inference: Inference, module: Atom) -> Type:
        if module[0] == CLASS:
            entry = inference.project.entry(module[1])
            return self._above(inference, entry, module[1].index)
        crate, parts = self._place(module[1])
        return join_all(one(MODULE, path) for path in inference.project.modules("::".join((crate, *parts[:-1])))) if parts else EMPTY

    def _root(self, path: str) -> Type:
        crate, _ = self._place(path)
        root = next((target for target, name in self._targets.items() if name == crate), None)
        return one(MODULE, root) if root is not None else one(MODULE, _root_file(path))

    def submodule(self, inference: Inference, module: Atom, name: str) -> Type:
        """The file of a module below a module."""
        if module[0] != MODULE:
            return EMPTY
        crate, parts = self._place(module[1])
        return join_all(one(MODULE, path) for path in inference.project.modules("::".join((crate, *parts, name))))

    def taken(self, inference: Inference, module: Atom, name: str) -> Type:
        """A name of a module in a file, of a module in braces, or a variant of an enumeration."""
        return inference.attribute_of(module, name) if module[0] == CLASS else super().taken(inference, module, name)

    def shared(self, inference: Inference, entry: FileEntry, name: str) -> list[Place] | None:
        """What an import of everything brings that is no file: modules in braces, enumerations."""
        return None if "." in name or not entry.stars else super().shared(inference, entry, name)

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """`crate`, `super`, and crates by their names."""
        if name == "crate":
            return self._root(entry.path)
        if name == "super":
            return self._above(inference, entry, entry.enclosing(scope, ("class",)))
        return self.builtin(name)

    def builtin(self, name: str) -> Type:
        """The prelude, and crates by their names."""
        if name in self._roots:
            return one(MODULE, self._roots[name])
        if name in _LIBRARIES:
            return one(EXT, name, "")
        return one(EXT, self._outside[name], "") if name in self._outside else super().builtin(name)

    # types

    def is_visible(self, entry: FileEntry, scope: int) -> bool:
        """Types hide their members, modules do not."""
        return _is_module(entry, scope) or super().is_visible(entry, scope)

    def is_virtual(self, symbol: Symbol) -> bool:
        """Only traits leave open whose method runs."""
        return symbol.kind == "interface"

    def members_elsewhere(self, inference: Inference, owner: Symbol, name: str) -> Sequence[Place]:
        """Methods from implementations anywhere in the crate."""
        project = inference.project
        entry = project.entry(owner)
        crate = self._place(entry.path)[0]
        found: list[Place] = []
        for path in project.binders(f"{crate}::*", f"{owner.name}.{name}"):
            other = project.files[path]
            project.touch_top(other, owner.name)
            slots = other.names(0).get(f"{owner.name}.{name}", ())
            found += (Place(other, 0, slot) for slot in slots if self._belongs(inference, other, slot.index, owner))
        if entry.definitions[owner.index].parent > 0:
            scope = entry.definitions[owner.index].parent
            found += (Place(entry, scope, slot) for slot in entry.names(scope).get(f"{owner.name}.{name}", ()))
        return found

    def _belongs(self, inference: Inference, entry: FileEntry, position: int, owner: Symbol) -> bool:
        return any(atom[0] == CLASS and atom[1] is owner for atom in self.owner_apart(inference, entry, position))

    def more_bases(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol | Atom]:
        """The traits that are implemented for a type."""
        if symbol.kind == "interface":
            return ()
        found: list[Symbol | Atom] = []
        for entry, position in self._methods(inference, symbol):
            definition = entry.definitions[position]
            for _, term in definition.bases:
                for atom in sorted(self.objects(inference, entry, definition.parent, term), key=repr):
                    base = atom[1] if atom[0] == CLASS else atom if atom[0] == EXT else None
                    if base is not None and base is not symbol and base not in found:
                        found.append(base)
        return sorted(found, key=repr)

    def _methods(self, inference: Inference, symbol: Symbol) -> Iterator[tuple[FileEntry, int]]:
        project = inference.project
        entry = project.entry(symbol)
        for slots in entry.names(symbol.index).values():
            yield from ((entry, slot.index) for slot in slots if slot.kind == "definition")
        crate, prefix = self._place(entry.path)[0], f"{symbol.name}."
        for path in project.binders(f"{crate}::*", prefix):
            other = project.files[path]
            project.touch_top(other, symbol.name)
            for name, slots in other.names(0).items():
                if name.startswith(prefix):
                    yield from ((other, slot.index) for slot in slots if self._belongs(inference, other, slot.index, symbol))

    def satisfied_methods(self, inference: Inference, method: Symbol) -> Sequence[Symbol]:
        """The trait's method that one in an implementation apart from its type stands for."""
        entry = inference.project.entry(method)
        definition = entry.definitions[method.index]
        if method.kind != "method" or (
            entry.definitions[definition.parent].kind in CLASS_KINDS and not _is_module(entry, definition.parent)
        ):
            return ()
        traits = [
            atom[1] for _, term in definition.bases for atom in self.objects(inference, entry, definition.parent, term) if atom[0] == CLASS
        ]
        return [wanted for trait in sorted(traits, key=repr) for wanted in inference.functions(trait, method.name)]

    def takes(self, definition: Definition, positional: int, keywords: Sequence[str], *, bound: bool) -> bool:
        """As many arguments as parameters; one more where the receiver is written as the first."""
        return positional in (len(definition.parameters), len(definition.parameters) + 1)

    def sees_globals(self, entry: FileEntry) -> bool:
        """Macros are seen wherever they come before, across files."""
        return True

    # values

    def bound(self, inference: Inference, entry: FileEntry, binding: Binding, value: Type) -> Type:
        """`Some(x) = value`, `Ok(x) = value`, `Err(x) = value`."""
        found = entry.terms[binding.value]
        if found[0] != ATTR or found[2] not in ("Some", "Ok", "Err"):
            return value
        whole = inference.expanded(inference.term(entry, binding.scope, found[1], binding.line))
        position = 1 if found[2] == "Err" else 0
        return join_all(atom[2][position] for atom in whole if atom[0] == BOX and position < len(atom[2]))

    def missing_member(self, receiver: Atom, name: str) -> Type:
        """What the library adds to every type, and what its pointers and cells put before it."""
        if receiver[0] == CLASS:
            return one(BUILTIN, receiver, name) if name == "default" else super().missing_member(receiver, name)
        return one(BUILTIN, receiver, name) if name in _SAME or name in ("to_string", "eq", "cmp", "hash", "fmt") else EMPTY

    def call_external(self, inference: Inference, atom: Atom, call: Call) -> Type | None:
        """Constructors of options, results, and of what is looked through."""
        parts = atom[2].split(".")
        if parts[-1] == "Some":
            return box("option", call.argument(0) or EMPTY)
        if parts[-1] in ("Ok", "Err"):
            given = call.argument(0) or EMPTY
            return box("result", *((given, EMPTY) if parts[-1] == "Ok" else (EMPTY, given)))
        if len(parts) > 1 and parts[-2] in self.transparent and parts[-1] in _MAKERS:
            return call.argument(0) or EMPTY
        return None

    def container_method(self, inference: Inference, container: Atom, name: str, call: Call) -> Type:
        """Methods of options, results, collections and iterators; of a plain value those that give it again."""
        if container[0] == CLASS:
            return one(INST, container[1], True)
        if container[0] != BOX:
            return frozenset((container,)) if name in _SAME else EMPTY
        kind, parts = container[1], container[2]
        if kind in ("option", "result"):
            if name in _UNWRAPS:
                return parts[0]  # type: ignore[no-any-return]
            if name in ("ok", "ok_or", "ok_or_else", "context", "with_context", "map_err", "filter", "or_else"):
                return box("option" if name in ("ok", "filter") else "result", *parts)
            if name in ("unwrap_err", "expect_err", "err") and len(parts) > 1:
                return parts[1]  # type: ignore[no-any-return]
        if kind == "map":
            if name in ("get", "get_mut", "remove"):
                return box("option", parts[1])
            if name in ("values", "values_mut", "into_values"):
                return box("list", parts[1])
            if name in ("keys", "into_keys"):
                return box("list", parts[0])
            if name in ("iter", "iter_mut", "into_iter", "drain"):
                return box("list", tuple_of(parts))
            if name in ("or_insert", "or_insert_with", "or_default"):
                return parts[1]  # type: ignore[no-any-return]
            return frozenset((container,)) if name in ("entry", "clone") else EMPTY
        if name == "enumerate":
            return box("list", tuple_of((EMPTY, parts[0])))
        if kind == "list" and name in _TO_OPTION:
            return box("option", parts[0])
        if name in ("map", "and_then", "filter_map", "flat_map") and call.args:
            given = mapped(inference, call.argument(0) or EMPTY)
            inner = join_all(atom[2][0] for atom in given if atom[0] == BOX and atom[2]) if name != "map" else given
            return box(kind, inner, *parts[1:])
        return frozenset((container,)) if name in _SAME else EMPTY


def _is_module(entry: FileEntry, scope: int) -> bool:
    return "namespace" in entry.definitions[scope].modifiers


def _below(folder: str, name: str) -> str:
    return "/".join(part for part in f"{folder}/{name}".split("/") if part not in ("", "."))


def _root_file(path: str) -> str:
    """The root of the crate a file without a `Cargo.toml` is in: `lib.rs` or `main.rs` in the folder called `src`."""
    above, source, _ = path.rpartition("src/")
    return f"{above}{source}lib.rs" if source else "lib.rs"


RULES = RustRules
