"""Compare two versions of a signature: do uses of the old one still work?

Parameters are compared as they are written, because types are not inferred here. Without a parameter list, as for a class, each
difference counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.runtime.data.conventions import conventions_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphmem.parsing.facts import Definition, Parameter

_TOKEN: Final = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`|[=-]>|\s+|.", re.DOTALL)
_OPENING: Final = "([{<"
_CLOSING: Final = ")]}>"
_LIST: Final = r"\s*(?:=\s*(?:async\b\s*)?)?(?:<[^()]*>|\[[^()]*\])?\s*\("  # what follows a name before its parameters
_BARE: Final = re.compile(r"(=\s*(?:async\s+)?)([\w$]+)(\s*=>)")  # an arrow function of one parameter without parentheses
_OPTIONAL: Final = re.compile(r"\?\s*(?:$|:)")  # a parameter or member such as `size?: number`


_NAMED: Final = re.compile(r"^(?!chan\b|func\b|map\b|interface\b|struct\b)\w+\s+(?=\S)")  # the name of a result


class Lost(NamedTuple):
    """Optional parameters that a new signature lacks."""

    names: frozenset[str]
    place: int  # of the first one among the arguments of a call


class _Written(NamedTuple):
    """A parameter, or a member of an object type."""

    name: str  # "" if callers do not write it
    shape: str  # its type or its kind
    is_optional: bool


def accepts_old_uses(old: Definition, new: Definition, language: str) -> bool:
    """Whether code that uses a definition can use its new version, too.

    This holds if only optional parameters are added, or if parameters become optional. Names of parameters count only where callers
    write them, and annotations only where they are checked.
    """
    if _plain(old.signature) == _plain(new.signature):
        return True
    given, taken = _split(old), _split(new)
    if given is None or taken is None or old.kind != new.kind:
        return False
    uses = conventions_of(language)
    if uses.free_annotations:
        return old.modifiers == new.modifiers and _accepts_named(old.parameters, new.parameters)
    results = [_results(part[2]) if uses.named_results else _plain(part[2]) for part in (given, taken)]
    is_same = _head(given, old) == _head(taken, new) and results[0] == results[1]
    one, other = (list(_parameters(part[1], its, uses.named_arguments)) for part, its in ((given, old), (taken, new)))
    other = [its._replace(shape="") if its.shape in uses.universal_types else its for its in other]
    one = [its._replace(shape="") if its.shape in uses.universal_types else its for its in one]
    return is_same and len(one) <= len(other) and all(map(_takes, one, other)) and all(its.is_optional for its in other[len(one) :])


def lost_parameters(old: Definition, new: Definition, language: str) -> Lost | None:
    """Return the optional parameters that a new version lacks.

    Calls without an argument for them still work. The result is None if other calls can fail, too, or if the language checks annotations,
    so that callers may depend on more than names.
    """
    left = {one.name for one in new.parameters}
    lost = [one for one in old.parameters if one.default >= 0 and "rest" not in one.kind and one.name not in left]
    kept = old._replace(parameters=tuple(one for one in old.parameters if one not in lost))
    if not (lost and conventions_of(language).free_annotations and accepts_old_uses(kept, new, language)):
        return None
    ordered = [one for one in old.parameters if one.kind in ("positional", "normal")]
    is_bound = old.kind == "method" and "staticmethod" not in old.modifiers
    return Lost(frozenset(one.name for one in lost), next((at for at, one in enumerate(ordered) if one in lost), len(ordered)) - is_bound)


def passes(call: str, lost: Lost) -> bool:
    """Whether a call has an argument for one of the parameters `lost`.

    `call` is the code after the opening parenthesis. The result is also True if the call does not end there, or unpacks its arguments.
    """
    inner = next(_parts(call, ""))
    arguments = [one.strip() for one in _parts(inner, ",") if one.strip()]
    names = {one.partition("=")[0].strip() for one in arguments if re.match(r"\w+\s*=(?!=)", one)}
    is_whole = len(inner) < len(call) and not any(one.startswith("*") for one in arguments)
    return not is_whole or not names.isdisjoint(lost.names) or len(arguments) - len(names) > lost.place


def _plain(text: str) -> str:
    """Return code without whitespace and without commas before a bracket."""
    return re.sub(r",(?=[)\]}>])", "", re.sub(r"\s+", "", text))


def _split(one: Definition) -> tuple[str, str, str] | None:
    """Split a signature into the text before, in and after its parameters.

    The result is None if no list of parameters follows the name.
    """
    signature = _BARE.sub(r"\1(\2)\3", one.signature)
    found = re.search(rf"\b{re.escape(one.name)}\b{_LIST}", signature)
    if found is None:
        return None
    inner = next(_parts(signature[found.end() :], ""))
    return signature[: found.end()], inner, signature[found.end() + len(inner) :]


def _head(split: tuple[str, str, str], one: Definition) -> str:
    """Return the text before the parameters, without the receiver's name.

    `split` has the parts of the signature: text before the parameters, the parameters, text after them. `one` is the definition.
    """
    head, inner, _ = split
    receivers = len(one.parameters) - sum(1 for part in _parts(inner, ",") if part.strip())
    for receiver in one.parameters[: max(0, receivers)]:
        head = re.sub(rf"\b{re.escape(receiver.name)}\b", "", head, count=1) if receiver.name.isidentifier() else head
    return _plain(head)


def _results(tail: str) -> str:
    """Return the types of results such as `(n int, err error)`, without names."""
    listed = tail.removeprefix(")").strip()
    inner = next(_parts(listed[1:], "")) if listed.startswith("(") else listed
    return ",".join(_plain(_NAMED.sub("", part.strip())) for part in _parts(inner, ","))


def _parts(text: str, separators: str) -> Iterator[str]:
    """Yield the parts of some code between separators outside brackets.

    The code ends at the first bracket that closes none of its own.
    """
    depth, part = 0, ""
    for token in _TOKEN.findall(text):
        depth += (token in _OPENING) - (token in _CLOSING)
        if depth < 0:
            break
        if depth == 0 and token in separators:
            yield part
            part = ""
        else:
            part += token
    yield part


def _accepts_named(old: Sequence[Parameter], new: Sequence[Parameter]) -> bool:
    """Whether calls that fit the parameters `old` also fit `new`.

    The parameters have no types. Positions, names, defaults and parameters such as `*args` are compared.
    """
    ordered, its_ordered = ([one for one in every if one.kind in ("positional", "normal")] for every in (old, new))
    named = {one.name: one for one in new if one.kind in ("normal", "keyword")}
    kept = [*zip(ordered, its_ordered, strict=False), *((one, named.get(one.name)) for one in old if one.kind == "keyword")]
    if len(its_ordered) < len(ordered) or {one.kind for one in old if "rest" in one.kind} - {one.kind for one in new}:
        return False
    known = {id(other) for _, other in kept}
    return all(
        other is not None and (one.kind == "positional" or one.name == other.name) and (one.default < 0 or other.default >= 0)
        for one, other in kept
    ) and all(one.default >= 0 or "rest" in one.kind for one in new if id(one) not in known)


def _parameters(text: str, one: Definition, is_named: bool) -> Iterator[_Written]:
    """Yield the parameters in `text`, the code between parentheses.

    `one` is the definition with the names of the parameters. If `is_named` is false, callers write no names, so the yielded parameters have
    the name "".
    """
    parts = [part for part in _parts(text, ",") if part.strip()]
    names = [parameter.name for parameter in one.parameters][-len(parts) :] if parts else []
    for part, name in zip(parts, names or [part.strip() if part.strip().isidentifier() else "" for part in parts], strict=False):
        is_pattern = not name.isidentifier()
        found = _written(part if is_pattern else re.sub(rf"\b{re.escape(name)}\b", "", part, count=1))
        before = "" if is_pattern and found.shape else found.name  # callers see the type of a pattern, if it has one
        yield found._replace(name=name if is_named else "", shape=before + found.shape)


def _written(text: str) -> _Written:
    declared, *default = _parts(text.strip(), "=")
    name, *shape = _parts(declared, ":")
    is_optional = bool(default) or "..." in name or _OPTIONAL.search(declared) is not None
    return _Written(_plain(name).removesuffix("?"), _plain(":".join(shape)), is_optional)


def _takes(old: _Written, new: _Written) -> bool:
    """Whether every argument for the parameter `old` also fits `new`.

    Both parameters have the same position in their lists.
    """
    is_kept = old.name == new.name and (new.is_optional or not old.is_optional)
    return is_kept and (old.shape == new.shape or _takes_objects(old.shape, new.shape))


def _takes_objects(old: str, new: str) -> bool:
    """Whether every object of the type `old` also fits the type `new`.

    Both are object types, such as `{a: number}`. For any other type, the result is False.
    """
    if not (old.startswith("{") and new.startswith("{")):
        return False
    one, other = ({its.name: its for its in map(_written, _parts(text[1:-1], ",;")) if its.name} for text in (old, new))
    return all(name in other and _takes(its, other[name]) for name, its in one.items()) and all(
        its.is_optional for name, its in other.items() if name not in one
    )
