"""Load installed grammars and the query files of `grammars/`, once each.

Grammars and queries stay loaded until the process ends. Only this module imports the packages of grammars. A `Query` is compiled once and
never freed, because compiling takes milliseconds, and one release of tree-sitter crashed when queries were freed.

A term is an expression as the parser stores it: a tuple that begins with an operator, such as `call` for `f(x)`.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from tree_sitter import Language, Query, QueryError

from graphmem.errors import GrammarError
from graphmem.parsing.language import LanguageSpec, language_spec
from graphmem.parsing.languages import Helper, helper_named
from graphmem.parsing.syntax import Syntax
from graphmem.parsing.term_table import compiled_terms
from graphmem.parsing.terms import TermTable
from graphmem.runtime.data.resources import data_root, digest

QUERY_FILES: Final = ("definitions.scm", "imports.scm", "types.scm", "references.scm")
"""Query files in order: for one node, definitions precede bindings and references."""

CAPTURES: Final = frozenset(
    {
        *("definition.class", "definition.interface", "definition.enum", "definition.type"),
        *("definition.function", "definition.method", "definition.variable"),
        *("name", "body", "returns", "bases", "base", "base.here", "base.mixed", "signature.end", "doc", "doc.of"),
        *("wrapper", "wrapped", "decorator", "decorated"),
        *("modifier.async", "modifier.generator", "modifier.exported", "modifier.static", "modifier.abstract"),
        *("modifier.property", "modifier.setter", "modifier.private", "modifier.main", "modifier.default", "modifier.readonly"),
        *(
            "modifier.overload",
            "modifier.test",
            "modifier.generated_test",
            "modifier.namespace",
            "modifier.anonymous",
            "modifier.associated",
            "modifier.empty",
        ),
        "modifier.fallback",
        "modifier.cached",
        *("modifier.extension", "modifier.route", "modifier.explicit", "modifier.partial", "modifier.macro"),
        *("modifier.friend", "modifier.singleton"),
        *("owner", "verb"),
        *("parameter.normal", "parameter.rest", "parameter.keyword_rest"),
        *("parameter.after_positional", "parameter.before_keyword"),
        *("annotation", "default"),
        *("import.module", "import.name", "import.alias", "import.exported_as"),
        *("import.kind.import", "import.kind.from", "import.kind.require", "import.kind.dynamic"),
        *(
            "import.kind.reexport",
            "import.kind.type",
            "import.kind.package",
            "import.kind.augment",
            "import.kind.constraint",
            "import.star",
        ),
        *("binding.assign", "binding.set", "binding.annotate", "binding.augment", "binding.for", "binding.with", "binding.except"),
        *("binding.return", "binding.yield", "binding.delete", "binding.export", "binding.local", "binding.yield_from"),
        *("binding.implied", "binding.members"),
        *("target", "value", "given", "extent", "extent.inside", "condition"),
        *("scope.global", "scope.nonlocal", "block", "branch"),
        *("reference.call", "reference.read", "reference.write", "reference.delete", "reference.decorate", "reference.type"),
        *("reference.named", "reference.token"),
        *("reference.raise", "reference.jsx", "reference.implicit"),
        *("reference.truth", "reference.format", "reference.text", "reference.repr", "reference.removal", "reference.spread"),
    }
)
"""The whole vocabulary; `grammars/README.md` explains each name.

Names with a leading `_` serve predicates only.
"""


class Grammar(Syntax):
    """The syntax, query and tables needed to parse files of one language.

    `helper` is code for special cases of the language. `extraction_version` is part of the keys of cached results, so a change of the
    grammar makes cached results invalid.
    """

    def __init__(self, spec: LanguageSpec, language: Language, query: Query, helper: Helper, version_text: str) -> None:
        super().__init__(spec, language)
        self.query = query
        self.helper = helper
        self.extraction_version = version_text

    @cached_property
    def terms(self) -> TermTable:
        """The table that converts syntax nodes to terms, compiled at first use.

        A term is an expression as the parser stores it: a tuple that begins with an operator.

        Raises:
            GrammarError: the table names an operator or a node type that does not exist.
        """
        return compiled_terms(self, self.helper)


def query_text(name: str, file: str) -> str:
    """Return the text of the query file `file` of the language `name`.

    A line `; inherits: a, b` in the file names other languages. The files of the same name in these languages come first in the result.

    Raises:
        GrammarError: the file does not exist.
    """
    path = data_root() / "grammars" / name / file
    if not path.is_file():
        raise GrammarError(
            f"the file grammars/{name}/{file} is missing; add the file, or reinstall graphmem", path=f"grammars/{name}/{file}", line=0
        )
    text = path.read_text(encoding="utf-8")
    inherited = [parent.strip() for match in re.finditer(r"^; inherits: (.+)$", text, re.MULTILINE) for parent in match[1].split(",")]
    return "".join(query_text(parent, file) for parent in inherited) + text


def compile_query(name: str, language: Language) -> Query:
    """Compile the query files of a language as one query.

    Raises:
        GrammarError: a node, field or capture is unknown; the error names the file and its line.
    """
    parts = {file: query_text(name, file) for file in QUERY_FILES}
    text = "\n".join(parts.values())
    try:
        query = Query(language, text)
    except QueryError:
        for file, part in parts.items():
            _check_part(name, file, part, language)
        raise
    _keep.append(query)
    count: int = query.capture_count  # type: ignore[assignment]  # a property, whatever the stubs say
    unknown = sorted({query.capture_name(i) for i in range(count)} - CAPTURES)
    unknown = [capture for capture in unknown if not capture.startswith("_")]
    if unknown:
        path = f"grammars/{name}"
        raise GrammarError(
            f"{path} uses the unknown captures {', '.join(unknown)}; use the captures that grammars/README.md lists", path=path, line=0
        )
    return query


def _check_part(name: str, file: str, part: str, language: Language) -> None:
    """Compile one tree-sitter query file alone; an error names a line of it."""
    try:
        _keep.append(Query(language, part))
    except QueryError as error:
        row = re.search(r"row (\d+)", str(error))
        line = int(row[1]) + 1 if row else 0
        raise GrammarError(
            f"the query in grammars/{name}/{file}:{line} is invalid ({error}); correct the query", path=f"grammars/{name}/{file}", line=line
        ) from error


_keep: list[Query] = []  # queries are never freed, see the module's docstring


@cache
def load_grammar(name: str) -> Grammar:
    """Return the grammar of a language, compiled on first use in the process.

    Raises:
        UnsupportedLanguageError: the folder does not exist.
        GrammarError: the folder or the installed grammar is not usable.
    """
    spec = language_spec(name)
    language = _language(name)
    return Grammar(spec, language, compile_query(name, language), helper_named(spec.helper), extraction_version(name))


@cache
def extraction_version(name: str) -> str:
    """Return a version of all code and tables that parse a language.

    It covers the parsing code, the grammar and the tables of the language. Two files with equal content and an equal version give equal
    results. Computing the version loads no grammar: each run of an index asks for the versions of all languages.

    Raises:
        UnsupportedLanguageError: the folder does not exist.
        GrammarError: the packages of the grammars are not installed.
    """
    pack, core = _versions()
    table = (data_root() / "grammars" / name / "language.toml").read_text(encoding="utf-8")
    text = "\n".join(query_text(name, file) for file in QUERY_FILES)
    shared = "".join((data_root() / "grammars" / name).read_text(encoding="utf-8") for name in ("contracts.toml", "notebooks.toml"))
    rules = hashlib.blake2b((text + table + shared).encode(), digest_size=6).hexdigest()
    return f"rules {digest('parsing')} {rules}; {language_spec(name).grammar} of pack {pack}; core {core}"


@cache
def _language(name: str) -> Language:
    spec = language_spec(name)
    _versions()
    from tree_sitter_language_pack import get_language

    try:
        found: Language = get_language(spec.grammar)
    except LookupError as error:
        raise GrammarError(
            f"the grammar {spec.grammar!r} is missing or cannot be loaded ({error}); reinstall graphmem", path=f"grammars/{name}", line=0
        ) from error
    return found


@cache
def _versions() -> tuple[str, str]:
    """Return the versions of the grammar pack and of the tree-sitter core.

    Raises:
        GrammarError: an installed version is known to need a network, or to crash.
    """
    try:
        pack, core = version("tree-sitter-language-pack"), version("tree-sitter")
    except PackageNotFoundError as error:
        raise GrammarError(f"the Python package {error.name} is not installed; reinstall graphmem", path="", line=0) from error
    if int(pack.split(".")[0]) >= 1:
        raise GrammarError(
            f"tree-sitter-language-pack {pack} downloads its grammars at run time, which graphmem does not allow; install version 0.13.0",
            path="",
            line=0,
        )
    if core.startswith("0.26"):
        raise GrammarError(f"tree-sitter {core} has a defect that crashes graphmem; install version 0.25.2", path="", line=0)
    return pack, core
