"""Conventions of languages about files, folders and names.

Analyses of all languages need them: which files a program wrote, which names a runtime calls, which file stands for its folder. Each folder
of `grammars/` may have a `conventions.toml`, and `grammars/conventions.toml` has the conventions of no single language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Final

from graphmem.runtime.data.resources import data_root
from graphmem.runtime.data.tables import has_table, read_table

_FILE: Final = "conventions.toml"


@dataclass(frozen=True, slots=True)
class Conventions:
    """The content of one `conventions.toml`; `grammars/README.md` explains it."""

    title: str = ""  # name for people, if it is not the folder's name with a capital letter
    spoken: tuple[str, ...] = ()  # names in questions, if they are not the folder's name
    family: str = ""  # languages of one family can name each other's definitions
    measured_as: str = ""  # the language of this family whose recall of calls was measured
    like: str = ""  # language whose `runtime_names` and `contract_habits` also apply

    overloads: bool = False  # functions of one name differ by their parameters
    named_arguments: bool = False  # callers may write the names of parameters
    named_results: bool = False  # results may have names, which callers do not see
    free_annotations: bool = False  # nothing checks the annotations of parameters before the program runs
    hash_comments: bool = False  # `#` begins a comment, and not `//`
    encoding_declaration: str = ""  # regular expression of the start of a file; group 1 is the name of its encoding
    runtime_names: tuple[str, ...] = ()  # regular expressions of names that a runtime or framework calls
    private_prefixes: tuple[str, ...] = ()  # beginnings of private names
    constructors: frozenset[str] = frozenset()  # methods that only the creation of an object calls
    universal_types: frozenset[str] = frozenset()  # names of the type that every value has
    enum_classes: frozenset[str] = frozenset()  # classes of libraries whose subclasses are enumerations
    root_classes: frozenset[str] = frozenset()  # bases that add nothing to a class
    idle_bases: frozenset[str] = frozenset()  # qualified names of bases outside the project that call no method of a subclass
    bases_in_parentheses: bool = False  # a class lists its bases in parentheses, and may compute them

    folder_files: frozenset[str] = frozenset()  # names, without extension, of files that stand for their folder
    library_files: frozenset[str] = frozenset()  # the same for the first file of a library
    program_files: frozenset[str] = frozenset()  # the same for the first file of a program
    description_files: frozenset[str] = frozenset()  # the same for files that only describe their folder
    package_files: frozenset[str] = frozenset()  # files that export names of their package
    declaration_suffixes: tuple[str, ...] = ()  # ends of names of files that only declare code of other files or of libraries
    manifests: frozenset[str] = frozenset()  # files at the root that make a project a library, if names say what is public
    project_files: frozenset[str] = frozenset()  # files at the root of each package of a repository, such as "Cargo.toml"
    internal_folders: frozenset[str] = frozenset()  # folders below which nothing is public
    source_sets: tuple[str, ...] = ()  # `x` in `src/main/x`, below which folders are parts of a package's name

    generated_files: tuple[str, ...] = ()  # patterns of names of files that programs write
    generated_folders: frozenset[str] = frozenset()
    snapshot_folders: frozenset[str] = frozenset()  # results of tests that a program wrote
    vendored_folders: frozenset[str] = frozenset()
    migration_folders: frozenset[str] = frozenset()
    translation_folders: frozenset[str] = frozenset()  # with a file or a folder for each human language
    fixture_folders: frozenset[str] = frozenset()  # data of tests
    double_folders: frozenset[str] = frozenset()  # test doubles and their data
    library_folders: frozenset[str] = frozenset()  # of installed libraries, in paths of stack traces
    build_folders: frozenset[str] = frozenset()  # into which a build writes
    test_folders: frozenset[str] = frozenset()
    test_setup_files: frozenset[str] = frozenset()  # names, without extension, of files that prepare tests and have none
    collected_tests: str = ""  # regular expression of qualified names of tests, if a runner collects tests by name
    collected_classes: str = ""  # the same for names of classes
    collected_bases: str = ""  # bases of classes that a runner collects whatever their name is
    own_object: frozenset[str] = frozenset()  # what stands before a member of the object itself, such as "self."
    contract_habits: frozenset[str] = frozenset()  # how code names routes and addresses: `parsing.contracts.habits`
    tested_together: tuple[str, ...] = ()  # extensions of files whose tests may have another of these extensions


_NONE: Final = Conventions()


@cache
def conventions_of(language: str) -> Conventions:
    """Return the conventions of one language alone; empty if it has none."""
    path = f"{language}/{_FILE}"
    return read_table(path, Conventions) if language and has_table(path) else _NONE


@cache
def conventions_by_language() -> Mapping[str, Conventions]:
    """Return the conventions of all languages that have some, by name."""
    folders = sorted(one.name for one in (data_root() / "grammars").iterdir() if one.is_dir())
    return {name: found for name in folders if (found := conventions_of(name)) is not _NONE}


@cache
def shared_conventions() -> Conventions:
    """Return the conventions that belong to no single language."""
    return read_table(_FILE, Conventions)


@cache
def all_conventions() -> Conventions:
    """Return the lists of all languages and of the shared table, joined.

    Each list has the entries of all tables. Single values are empty, because they belong to one language.
    """
    tables = (shared_conventions(), *conventions_by_language().values())
    joined: dict[str, Any] = {}
    for field in fields(Conventions):
        values = [getattr(table, field.name) for table in tables]
        if isinstance(values[0], frozenset):
            joined[field.name] = frozenset().union(*values)
        elif isinstance(values[0], tuple):
            joined[field.name] = tuple(dict.fromkeys(one for value in values for one in value))
    return Conventions(**joined)


@cache
def runtime_names(language: str) -> re.Pattern[str]:
    """Return a pattern of the names that a language's runtime calls.

    Frameworks that find functions by name count as well. The pattern must match the whole name.
    """
    own = conventions_of(language)
    tables = (shared_conventions(), own, *((conventions_of(own.like),) if own.like else ()))
    return re.compile("|".join(name for table in tables for name in table.runtime_names), re.DOTALL)


def prepares_tests(path: str) -> bool:
    """Return whether a file prepares tests and has none, by its name.

    An example is `conftest.py` of pytest.
    """
    return path.rpartition("/")[2].rpartition(".")[0] in all_conventions().test_setup_files
