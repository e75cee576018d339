"""Parse code of C and C++ that the query files cannot express.

Examples are macros, pointers and code that is only for Windows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, EITHER, INDEX, LITERAL, NAME, NEW, NO_TERM, OPERATOR, STRING, OptionalTerm, TermIndex
from graphmem.parsing.language import languages
from graphmem.parsing.languages import Helper
from graphmem.parsing.languages.conditions import COMMENT, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from graphmem.parsing.terms import TermBuilder

_WINDOWS: Final = re.compile(rb"\b(?:[A-Z_]*WIN(?:32|64|DOWS)[A-Z0-9_]*|_MSC_VER|__MINGW32__)\b")
"""Names that are defined for Windows only, by compilers or from what these define."""

_NAMESPACE: Final = re.compile(r"\bnamespace\s+([A-Za-z_]\w*(?:::\w+)*)\s*\{")

_QUALIFIED: Final = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")

_EXPORTS: Final = re.compile(rb"(?:\s|;[^\n]*\n)*(?:LIBRARY|EXPORTS|NAME|DESCRIPTION)\b(?![ \t]*\()")
"""The beginning of the list of exported names of a Windows library."""

_CONDITION: Final = re.compile(rb"^[ \t]*#[ \t]*(?P<word>ifdef|ifndef|if|elif|else|endif)\b(?P<text>[^\n]*)", re.MULTILINE)
_TEMPLATE: Final = re.compile(r"\s*<[^<>]*>")
_MACRO: Final = rb"\b[A-Z][A-Z0-9_]{3,}\b"
_ARGUMENTS: Final = rb"\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)"
_ATTRIBUTE: Final = rb"(?:(?:__attribute__|__declspec|alignas)[ \t]*" + _ARGUMENTS + rb"|" + _MACRO + rb"(?:[ \t]*" + _ARGUMENTS + rb")?)"
_CLASS: Final = re.compile(
    rb"\b(?:class|struct|union)(?P<macro>(?:\s+" + _ATTRIBUTE + rb")+)(?=\s+\w[\w:]*(?:\s*<[^;{}()]*>)?(?:\s+\w+)?\s*(?::[^:;]|\{))"
)
"""`class EXPORT Name : Base {`: the macro stands where the grammar expects the name."""

_IN_MACRO: Final = re.compile(rb"(?P<macro>/\*[^\n]*?\*/)(?=[ \t]*\\\r?\n)")
"""A comment before the end of a line that continues: the grammar ends the text of the macro there."""

_FORWARD: Final = re.compile(rb"^class(?P<macro>(?:[ \t]+" + _ATTRIBUTE + rb")+)(?=[ \t]+\w+;)", re.MULTILINE)
"""`class EXPORT Name;`"""

_AFTER: Final = re.compile(rb"(?P<before>[\w>)]\s+)(?P<macro>(?:" + _MACRO + rb"(?:[ \t]*" + _ARGUMENTS + rb")?\s*)+)(?=[;{]|:[^:])")
"""`int n GUARDED_BY(lock);`, `void f() REQUIRES(lock) {`: an annotation behind a declaration."""

_STATEMENT: Final = re.compile(
    rb"\b(?:return|else|do|new|throw|case|goto|co_return|co_yield|co_await|delete|typedef|using|enum|class|struct|union)\s+$"
)
_BEFORE: Final = re.compile(
    rb"^[ \t]*(?:template\s*<[^;{}()\n]*>\s*)?(?:(?:static|inline|virtual|explicit|constexpr|friend)[ \t]+)*"
    rb"(?P<macro>(?:(?:" + _MACRO + rb"|__attribute__|__declspec)(?:[ \t]*" + _ARGUMENTS + rb")?\s+)+)"
    rb"(?=(?!operator\b)[A-Za-z_][\w:]*(?:<[^;{}()\n]*>)?[\s*&]+(?:[\w:<>]+[\s*&]+){0,3}"
    rb"(?:[~\w][\w:]*\s*[(=;\[]|\(\s*\*?\s*\w+\s*\)\s*\(|(?:[\w:]*::)?operator\b)"
    rb"|(?:\w+::)*(?P<owner>\w+)::(?:~?(?P=owner)\s*\(|operator\b)|(?:class|struct|template|auto|~)\b)",
    re.MULTILINE,
)
"""`EXPORT void f(…)`, `template <class T> EXPORT T A::f(…)`, `EXPORT A::A(…)`: a macro before a declaration that is whole without it."""

_BETWEEN: Final = re.compile(
    rb"^[ \t]*(?:template\s*<[^;{}()\n]*>\s*)?(?:(?:static|inline|extern|virtual|friend|constexpr|const)[ \t]+)*"
    rb"(?!(?:return|else|new|throw|case|goto|delete|typedef|using|define)\b)"
    rb"(?!(?:static|inline|extern|virtual|friend|constexpr|const|unsigned|signed)\b)"
    rb"[A-Za-z_][\w:]*(?:<[^;{}()\n]*>)?[ \t*&]+(?P<macro>"
    + _MACRO
    + rb"[ \t]+)(?=(?:[\w:]*::)?~?[a-z_]\w*[ \t]*\(|(?:[\w:]*::)?operator\b)",
    re.MULTILINE,
)
"""`void CONVENTION f(…)`: a macro between the type and the name of a function."""

_RESULT: Final = re.compile(
    rb"^[ \t]*(?:template\s*<[^;{}()\n]*>\s*)?(?P<macro>" + _MACRO + rb"[ \t]*\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*?,[ \t]*"
    rb"\((?P<type>[^()\n]+)\)[ \t]*\))(?=\s+(?:operator\b|[A-Za-z_]\w*[ \t]*\())",
    re.MULTILINE,
)
"""`ENABLED((is_number<T>), (A&)) operator[](T n)`: a macro whose last argument in brackets is the type of the result."""

_LINE: Final = _MACRO + rb"(?:[ \t]*" + _ARGUMENTS + rb")?[ \t]*"
_ALONE: Final = re.compile(
    rb"^[ \t]*(?P<macro>" + _MACRO + rb"(?:[ \t]*" + _ARGUMENTS + rb"(?=\s*(?:" + _LINE + rb"\n\s*)*#))?)[ \t]*(?://[^\n]*)?$", re.MULTILINE
)
"""`BEGIN_NAMESPACE`: a macro alone on its line, or `WARNINGS_OFF(padded)` before a line such as `#endif`."""

_NO_CODE: Final = re.compile(rb"\s*(?:#.*|" + _LINE + rb")?")
"""A line of the preprocessor, or a macro alone on its line."""

_IN_CLASS: Final = re.compile(
    rb"^[ \t]*(?P<macro>" + _MACRO + rb"[ \t]*" + _ARGUMENTS + rb")[ \t]*(?=\s*(?:\}\s*;|(?:public|protected|private)\s*:))", re.MULTILINE
)
"""`NOT_COPYABLE(Name)` and the end of a class, or `public:`: a macro that declares members."""


MACRO: Final = "#define"
"""Sign of the operation that stands for the text of a macro."""

POINTED: Final = "pointed"
"""Kind of the key in `*p`, the item that `p` points at."""

_TYPED_RESULTS: Final = frozenset(languages()["cpp"].resolution["typed_results"])
"""Functions whose type argument is the type of the result: `static_cast<Type>(x)`."""

CONDITION: Final = "bool"
"""Sign of the operation that converts a condition to true or false."""

_BRACKETED: Final = re.compile(
    rb"^(?P<before>[ \t]*(?!(?:return|else|new|throw|case|goto|delete|typedef|using|define|sizeof|if|while|for|switch)\b)"
    rb"[A-Za-z_]\w*[ \t*]+(?:\w+[ \t*]+){0,3})\((?P<name>\w+)\)(?=[ \t]*\()",
    re.MULTILINE,
)
"""`int (name) (int n)`: brackets around the name of a function, which keep a macro of that name from being expanded."""

_TYPE_ARGUMENT: Final = re.compile(rb"\bva_arg\s*\([^,()]*,\s*(?P<type>[\w \t*]*[ \t*][\w \t*]*)(?=\))")
"""`va_arg(list, struct name *)`: a type, where the grammar expects a value."""

_TYPE_WORDS: Final = frozenset((b"const", b"enum", b"long", b"short", b"signed", b"struct", b"union", b"unsigned", b"volatile"))

_TOKEN: Final = re.compile(
    r"""\s*(?:\\\n|//[^\n]*|/\*.*?\*/)|\s*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\w+|\#\#|::|->|&&|\|\||\S)""", re.DOTALL
)
MAX_MACRO: Final = 4000
"""Most characters of the text of a macro that are kept."""


def _without_strings(parameters: str, text: str) -> str:
    """Join a macro's parameters and text; replace each string by `""`.

    In the result, single blanks separate the tokens, and comments are removed.
    """
    tokens = (match[1] for match in _TOKEN.finditer(f"{parameters or '()'} {text}"[: 2 * MAX_MACRO]) if match[1])
    return " ".join('""' if token[0] in "\"'" else token for token in tokens)[:MAX_MACRO]


def _blank(match: re.Match[bytes]) -> bytes:
    first, last = match.span("macro")
    text, begin = match[0], match.start()
    blank = re.sub(rb"[^\s]", b" ", text[first - begin : last - begin])
    return text[: first - begin] + blank + text[last - begin :]


def _blank_after(match: re.Match[bytes]) -> bytes:
    line = match.string[match.string.rfind(b"\n", 0, match.start("macro")) + 1 : match.start("macro")]
    if line.lstrip().startswith(b"#") or _STATEMENT.search(line):
        return match[0]
    return _blank(match)


def _bare(match: re.Match[bytes]) -> bytes:
    return match["before"] + b" " + match["name"] + b" "


def _value(match: re.Match[bytes]) -> bytes:
    """Replace a type argument by the last name in it, padded with blanks.

    In `va_arg(list, struct name *)`, the type becomes `name`. A type of keywords only, such as `unsigned long`, becomes `int`.
    """
    first = match.start("type") - match.start()
    names = [name for name in re.finditer(rb"\w+", match["type"]) if name[0] not in _TYPE_WORDS]
    name, at = (names[-1][0], names[-1].start()) if names else (b"int", 0)
    return match[0][:first] + (b" " * at + name).ljust(len(match["type"]))


def _blank_around_type(match: re.Match[bytes]) -> bytes:
    """Replace all of a macro by blanks except the type in its last argument."""
    start, first, last = match.start(), match.start("type"), match.end("type")
    begin = match.start("macro")
    return match[0][: begin - start] + b" " * (first - begin) + match["type"] + b" " * (match.end() - last)


def _blank_alone(match: re.Match[bytes]) -> bytes:
    """Replace a macro alone on its line by blanks if it is between statements.

    `match` is the line, such as `BEGIN_NAMESPACE`. The code before the line must end with `;`, `}` or `:`, or be empty. Lines of the
    preprocessor and other macros do not count as code. Otherwise the line is returned unchanged.
    """
    lines = COMMENT.sub(b"", match.string[max(0, match.start() - 2000) : match.start()]).split(b"\n")
    while lines and _NO_CODE.fullmatch(lines[-1]):
        lines.pop()
    return _blank(match) if not lines or lines[-1].rstrip()[-1:] in b";}:" else match[0]


def _result_type(node: Node) -> Node | None:
    """Return the declared result type of the function around a node.

    Returns None if no function contains the node, or if the function declares no result type.
    """
    around = node.parent
    while around is not None and around.type not in ("function_definition", "lambda_expression"):
        around = around.parent
    if around is None:
        return None
    written, declarator = around.child_by_field_name("type"), around.child_by_field_name("declarator")
    while declarator is not None and declarator.type in ("pointer_declarator", "reference_declarator", "qualified_identifier"):
        declarator = declarator.child_by_field_name("name") or declarator.named_children[-1]
    if declarator is None or (written is not None and written.type != "placeholder_type_specifier"):
        return written
    if declarator.type == "operator_cast":
        return declarator.child_by_field_name("type")
    after = next((child for child in declarator.named_children if child.type == "trailing_return_type"), None)
    return after.named_children[0] if after is not None and after.named_children else None


def _templated(builder: TermBuilder, node: Node) -> TermIndex:
    """Convert the node of `name<Type>` to a term (an expression).

    `Type` is kept only for functions that the grammar lists in `typed_results`, such as `static_cast<Type>`.
    """
    name, arguments = node.child_by_field_name("name"), node.child_by_field_name("arguments")
    term = builder.term(name)
    types = [child for child in arguments.named_children if child.type == "type_descriptor"] if arguments is not None else []
    is_typed = name is not None and types and builder.text(name) in _TYPED_RESULTS
    return builder.add((INDEX, term, TermIndex(builder.annotation(types[0])))) if is_typed else term


def _qualified(builder: TermBuilder, text: str) -> TermIndex:
    """Convert a name such as `a::b` to a term (an expression)."""
    first, *others = text.split("::")
    found = builder.add((NAME, first.strip()))
    for name in others:
        found = builder.add((ATTR, found, name.strip()))
    return found


def _argument(builder: TermBuilder, parameter: Node) -> TermIndex:
    """Convert an argument that the grammar takes for a parameter to a term.

    In `Type name(other, others[n]);`, `other` looks like a type without a name, and `others[n]` like an array of that type.
    """
    term = builder.term(parameter.child_by_field_name("type"))
    is_item = parameter.child_by_field_name("declarator") is not None
    return builder.add((INDEX, term, builder.add((LITERAL, "int")))) if is_item else term


class CFamilyHelper(Helper):
    """Parses code of C and C++ that the query files cannot express.

    Examples are macros, operators and the qualified names of classes.
    """

    def name(self, text: str) -> str:
        """Return the name of a definition; `operator ==` becomes `operator==`.

        A conversion has the name of its type: `operator bool() const` becomes `operator bool`.
        """
        if not text.startswith("operator") or text[8:9].isalnum() or text[8:9] == "_":
            return text
        is_conversion = text[8:].strip()[:1].isalnum()
        return " ".join(text.partition("(")[0].split()) if is_conversion else "".join(text.split())

    def module(self, text: str) -> str:
        """Return the path of an include, or the namespaces that a macro opens.

        For the macro text `namespace outer { namespace name {`, the result is `outer::name`. For an include, it is the path of the file.
        """
        opened = _NAMESPACE.findall(text)
        return "::".join(opened) if opened else super().module(text)

    def owner(self, text: str) -> str:
        """Return the dotted path of the class that owns a definition.

        For the source `a::b::f`, the path is `a.b`. Template arguments are left out.
        """
        before = ""
        while before != text:
            before, text = text, _TEMPLATE.sub("", text)
        return ".".join(part.strip() for part in text.split("operator")[0].split("::")[:-1] if part.strip())

    def is_parameter(self, node: Node) -> bool:
        """Whether a parameter in a function header belongs to that function.

        Returns False for the parameter `n` of a function pointer in `int (*call)(int n)`, and for the exception of a `catch`.
        """
        around = node.parent.parent if node.parent is not None else None
        if around is not None and around.type == "catch_clause":
            return False
        inner = around.child_by_field_name("declarator") if around is not None else None
        return inner is None or inner.type not in ("parenthesized_declarator", "abstract_parenthesized_declarator")

    def annotated(self, builder: TermBuilder, annotation: OptionalTerm, target: Node) -> OptionalTerm:
        """Return the type of a declared variable, such as `*<T>` for `T *name`.

        `annotation` is the type `T`, and `target` the syntax node of the declared variable. An array, `T name[n]`, has the type `*<T>`,
        too. Its type is not `T`, because the operators that T defines do not apply to a pointer.
        """
        around = target.parent
        while around is not None and around.type in ("reference_declarator", "parenthesized_declarator"):
            around = around.parent
        if around is None or around.type not in ("pointer_declarator", "array_declarator") or annotation < 0:
            return annotation
        return builder.add((INDEX, builder.add((NAME, "*")), annotation))

    def helper_term(self, builder: TermBuilder, node: Node, what: str) -> TermIndex:
        """Convert a C or C++ node, such as `*p`, to a term (an expression).

        `what` is the kind of construct that `node` is. With "pointer", `*p` becomes an item of `p`, and `&x` gets the value of `x`. With
        "braces", the braces of `return {…}` become a new object of the function's result type. With "macro", the text of a macro that may
        contain calls is kept, and each string in the text is replaced by `""`.
        """
        if what == "macro":
            text = builder.text(node).strip()
            parameters = node.parent.child_by_field_name("parameters") if node.parent is not None else None
            if parameters is None and _QUALIFIED.fullmatch(text):
                return _qualified(builder, text)
            if "(" not in text and "##" not in text:
                return builder.unknown
            kept = _without_strings(builder.text(parameters) if parameters is not None else "", text)
            return builder.add((OPERATOR, MACRO, builder.add((NAME, MACRO)), builder.add((STRING, kept))))
        if what == "pointer":  # `*p` is an item of what p points at, `&x` has the type of x
            operator, inner = node.child_by_field_name("operator"), builder.term(node.child_by_field_name("argument"))
            is_item = operator is not None and operator.type == "*"
            return builder.add((INDEX, inner, builder.add((LITERAL, POINTED)))) if is_item else builder.add((EITHER, (inner,)))
        if what == "templated":
            return _templated(builder, node)
        if what == "spaces":  # `a::b` after `namespace name =`
            return _qualified(builder, builder.text(node))
        if what == "update":  # the operator of `x++` has a second operand, which nobody reads
            operator, inner = node.child_by_field_name("operator"), builder.term(node.child_by_field_name("argument"))
            is_after = operator is not None and operator.start_byte > node.start_byte
            sign = operator.type if operator is not None else ""
            return builder.add((OPERATOR, sign, inner, builder.add((LITERAL, "int")) if is_after else NO_TERM))
        if what == "condition":
            return builder.add((OPERATOR, CONDITION, builder.term(node.child_by_field_name("value")), NO_TERM))
        if what == "braces":
            returned = _result_type(node) if node.parent is not None and node.parent.type == "return_statement" else None
            if returned is None:
                return builder.unknown
            given = tuple(builder.term(child) for child in node.named_children if not child.is_extra)
            return builder.add((NEW, builder.annotation(returned), given, ()))
        if what == "made":  # `Type name(first, second);` in a function, where the arguments look like types of parameters
            around, parameters = node.parent, node.child_by_field_name("parameters")
            made = around.child_by_field_name("type") if around is not None and around.type == "declaration" else None
            if made is None or parameters is None:
                return builder.unknown
            arguments = (_argument(builder, child) for child in parameters.named_children if child.type == "parameter_declaration")
            return builder.add((NEW, builder.annotation(made), tuple(arguments), ()))
        return super().helper_term(builder, node, what)

    def regions(self, source: bytes) -> Sequence[tuple[int, int, str]]:
        """Return (start, end, "windows") for code that is only for Windows.

        Such code is inside `#if` or `#ifdef` with a macro of Windows. The positions are byte offsets.
        """
        if not _WINDOWS.search(source):
            return ()
        found: list[tuple[int, int, str]] = []
        # for each open `#if`: start of its branch for Windows, or -1; whether the next branch may be for Windows
        stack: list[tuple[int, int]] = []
        for match in _CONDITION.finditer(source):
            word, text = match["word"], match["text"]
            first, is_next = stack.pop() if stack and word in (b"else", b"elif", b"endif") else (-1, 0)
            if first >= 0:
                found.append((first, match.start(), "windows"))
            if word == b"endif":
                continue
            if word == b"else":
                stack.append((match.end() if is_next else -1, 0))
                continue
            is_windows = b"||" not in text and _WINDOWS.search(text) is not None
            is_not = word == b"ifndef" or (b"!" in text and is_windows)
            stack.append((match.end() if is_windows and not is_not else -1, int(is_windows and is_not)))
        return found

    def prepared(self, source: bytes) -> bytes:
        """Blank macros between `class` and a name, and comments in macros.

        With such a macro, the grammar mistakes the class for a function. With such a comment, it ends the text of the macro. A file that
        lists the exported names of a Windows library (`.def`) is replaced completely, because it is not C.
        """
        if _EXPORTS.match(source):
            return re.sub(rb"[^\s]", b" ", source)
        return _FORWARD.sub(_blank, _CLASS.sub(_blank, _IN_MACRO.sub(_blank, source)))

    def mended(self, source: bytes) -> bytes:
        """Replace macros before, inside and after declarations by blanks.

        Brackets around the name of a function are replaced by blanks as well. The type in `va_arg(list, type)` becomes a single name. If an
        `#if` divides a statement, only the first branch of the `#if` stays. The result is used only if the first parse had errors. All
        other code keeps its position.
        """
        found = _RESULT.sub(_blank_around_type, self.prepared(source))
        found = _AFTER.sub(_blank_after, _IN_CLASS.sub(_blank_alone, _ALONE.sub(_blank_alone, found)))
        found = _BRACKETED.sub(_bare, _BETWEEN.sub(_blank, _BEFORE.sub(_blank, found)))
        return whole(_TYPE_ARGUMENT.sub(_value, found))


HELPER = CFamilyHelper()
