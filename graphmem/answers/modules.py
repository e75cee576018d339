"""Answers about modules: their files, dependencies, borders and cycles.

The conventions are those of `graphmem.answers`: frozen dataclasses of plain values, paths with '/' from the root, 1-based lines.
A module here is a group of files found by `graphmem.analysis.semantic`, and not a Python module.
"""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.code import IndexState, PathStep, SymbolInfo
from graphmem.answers.marks import MODULE, Doc, GlobalId, Size
from graphmem.answers.plain import answer
from graphmem.answers.vocabulary import CycleLevel


@answer(name="Module")
class ModuleInfo:
    """A group of related files."""

    id: Annotated[str, Doc("Id of the module; stable while most of its files stay together"), GlobalId(MODULE)]
    name: Annotated[str, Doc("unique name of the module, by which operations accept the module")]
    path: Annotated[str, Doc("deepest directory that contains all files of the module; empty for the root")]
    layer: Annotated[
        int,
        Doc("layer of the module: layer 0 depends on no other module; all dependencies lead to lower layers, except those marked `upward`"),
    ]
    files: int
    symbols: int
    lines: int
    test_files: int
    heat: Annotated[
        float,
        Doc(
            "frequency of changes of the module's most changed files, 0 to 1, in which recent changes count "
            "more; the module with the most change has 1"
        ),
    ]
    cohesion: Annotated[float, Doc("share of the dependencies of the module's files that stay inside the module, 0 to 1")]
    languages: Annotated[dict[str, int], Doc("number of files of each language in the module, most first"), Size(5)]
    entry_points: Annotated[
        dict[str, int], Doc("number of entry points of each kind in the module, such as main, command or route"), Size(6)
    ]
    central: Annotated[list[SymbolInfo], Doc("symbols of the module with the most dependents, at most 5"), Size(5)]
    x: Annotated[float, Doc("horizontal centre of the module on the map, 0 (left) to 1 (right)")]
    y: Annotated[float, Doc("centre of the module on the map, 0 (top) to 1 (bottom); high layers are on top")]
    summary: Annotated[str, Doc("purpose of the module, taken from the documentation of its files")]
    paragraph: Annotated[str, Doc("description written by a language model; empty until a model has written one")] = ""


@answer
class ModuleDependency:
    """All edges from the files of one module to the files of another."""

    src: Annotated[str, Doc("Id of the module that uses the other module"), GlobalId(MODULE)]
    dst: Annotated[str, Doc("Id of the module that is used"), GlobalId(MODULE)]
    src_name: Annotated[str, Doc("name of the module that uses the other module")]
    dst_name: Annotated[str, Doc("name of the module that is used")]
    weight: Annotated[int, Doc("number of edges that make up the dependency")]
    kinds: Annotated[dict[str, int], Doc("number of these edges of each kind, such as CALLS or IMPORTS, most first"), Size(4)]
    upward: Annotated[bool, Doc("true when the dependency leads from a lower to a higher layer and so closes a cycle")]
    sites: Annotated[
        list[PathStep], Doc("examples of the edges that make up the dependency: at most 3, or at most 20 when `upward` is true"), Size(4)
    ]
    worth_cutting: Annotated[
        bool,
        Doc("true when removing this dependency alone takes a module out of a cycle, and few edges must be removed for it"),
    ] = False


@answer
class ModuleMap:
    """The modules of the project and their dependencies."""

    modules: Annotated[list[ModuleInfo], Doc("the modules; those with the most lines come first"), Size(100)]
    dependencies: Annotated[
        list[ModuleDependency], Doc("the dependencies between modules; those with the most edges come first"), Size(500)
    ]
    modularity: Annotated[float, Doc("quality of the division into modules (modularity of the dependencies), -0.5 to 1")]
    notes: Annotated[list[str], Doc("data that was missing when the project was divided into modules")]
    state: IndexState


@answer
class ModuleFile:
    """A file of a module, with its place on the map."""

    path: str
    language: str
    lines: int
    symbols: int
    is_test: bool
    heat: Annotated[
        float, Doc("frequency of changes of the file, 0 to 1, in which recent changes count more; the file with the most change has 1")
    ]
    x: Annotated[float, Doc("horizontal centre of the file in the module's layout, 0 (left) to 1 (right)")]
    y: float


@answer
class FileLink:
    """All edges from one file to another."""

    src: Annotated[str, Doc("path of the file that uses the other file")]
    dst: str
    weight: int
    kinds: Annotated[dict[str, int], Doc("number of edges of each kind between the files, such as CALLS or IMPORTS, most first"), Size(4)]


@answer
class DependencyFiles:
    """The files of one module that use files of another."""

    files: Annotated[list[FileLink], Doc("pairs of files, of which the first uses the second; most edges first"), Size(25)]
    total: Annotated[int, Doc("total number of pairs of files, of which the first uses the second; `files` may list fewer")]
    edges: Annotated[int, Doc("total number of edges between the two modules; this is the weight of the dependency")]
    state: IndexState


@answer
class ModuleDetail:
    """One module with its files and dependencies."""

    module: ModuleInfo
    files: Annotated[list[ModuleFile], Doc("files of the module, by path"), Size(200)]
    links: Annotated[list[FileLink], Doc("dependencies between files of the module, most edges first"), Size(1000)]
    dependencies: Annotated[list[ModuleDependency], Doc("dependencies of the module on other modules"), Size(30)]
    dependents: Annotated[list[ModuleDependency], Doc("dependencies of other modules on the module"), Size(30)]
    state: IndexState


@answer
class CycleCut:
    """An edge whose removal breaks a cycle."""

    src: Annotated[str, Doc("path of the file, or name of the module, that depends on the other")]
    dst: str
    weight: Annotated[int, Doc("number of calls, imports and other edges that make up the dependency to remove")]
    frees: Annotated[int, Doc("number of members (files or modules) that leave the cycle when the edge is removed")]
    sites: Annotated[
        list[PathStep],
        Doc("the calls, imports and other edges that make up the dependency to remove, each between two symbols; at most 20"),
        Size(5),
    ]


@answer
class Cycle:
    """Files, or modules, that depend on each other in a cycle."""

    level: CycleLevel
    members: Annotated[list[str], Doc("members of the cycle in ascending order: paths of files, or names of modules")]
    example: Annotated[list[str], Doc("members of a shortest cycle that contains the edge `cheapest`, in order")]
    deferred: Annotated[
        bool, Doc("true when each circular path among the members contains an import inside a function, so that all files can be loaded")
    ]
    cheapest: Annotated[
        CycleCut,
        Doc("the dependency to remove first: it takes the most members out of the cycle, relative to its number of edges in the code"),
    ]
    cuts: Annotated[list[CycleCut], Doc("edges to remove so that no cycle remains, at most 20"), Size(10)]
    cut_count: Annotated[int, Doc("number of edges to remove so that no cycle remains; `cuts` may list fewer")]


@answer
class SurfaceSymbol:
    """A module's symbol that other modules use."""

    symbol: SymbolInfo
    edges: Annotated[int, Doc("number of edges from other modules to the symbol")]
    modules: Annotated[list[str], Doc("names of the modules that use the symbol, most edges first")]


@answer
class CrossingSymbol:
    """A symbol of one part of a module that the other part uses."""

    symbol: SymbolInfo
    uses: Annotated[int, Doc("number of symbols in the other part of the divided module that use the symbol")]
    files: Annotated[list[str], Doc("paths of the files, in the other part of the divided module, that use the symbol"), Size(5)]
    in_larger: Annotated[bool, Doc("true when the symbol is in the larger part of the divided module")]


@answer
class ModuleBoundary:
    """Places where a module can be separated from the others, or split in two."""

    module: Annotated[str, Doc("name of the module")]
    surface: Annotated[list[SurfaceSymbol], Doc("symbols that other modules use, most edges first: the interface to keep")]
    total: Annotated[int, Doc("number of symbols of the module that other modules use")]
    incoming: Annotated[list[ModuleDependency], Doc("dependencies of other modules on the module, most edges first"), Size(30)]
    outgoing: Annotated[list[ModuleDependency], Doc("dependencies of the module on other modules, most edges first"), Size(30)]
    cycles: Annotated[list[Cycle], Doc("cycles of modules that contain the module"), Size(3)]
    larger: Annotated[
        list[str], Doc("files of the larger part when the module is split in two; empty for a module that is too small or too large")
    ]
    smaller: Annotated[
        list[str],
        Doc(
            "files of the smaller part, at least a fifth of all, when the module is split where the fewest "
            "uses lead from one part to the other"
        ),
    ]
    crossing: Annotated[int, Doc("number of uses between the two parts of the divided module: pairs of a symbol and a symbol that it uses")]
    inside: Annotated[int, Doc("number of uses inside the smaller part of the divided module")]
    splits_well: Annotated[
        bool, Doc("true when at most a quarter of the smaller part's uses lead to the other part; otherwise no division is good")
    ]
    crossing_symbols: Annotated[
        list[CrossingSymbol], Doc("the symbols that the other part of the divided module uses, most uses first"), Size(20)
    ]
    state: IndexState


@answer
class CyclesAnswer:
    """Dependency cycles among files or among modules, largest first."""

    level: CycleLevel
    cycles: list[Cycle]
    total: Annotated[int, Doc("total number of cycles between files or between modules, as requested; `cycles` may list fewer")]
    state: IndexState
