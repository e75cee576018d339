"""Find the exports of an ECMAScript file, such as `module.exports = …`.

Exported declarations such as `export class A` are left out, because their names are ordinary names of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphmem.parsing.facts import ATTR, NAME

if TYPE_CHECKING:
    from graphmem.parsing.facts import Binding
    from graphmem.resolution.files.file_entry import FileEntry


class Exports(NamedTuple):
    """The exports of a file, by kind of export.

    Each export is given as its index in the file's list of imports, of bindings (assignments) or of definitions.
    """

    renamed: Mapping[str, Sequence[int]]  # name -> imports: `export { a as name } from`, `export { name }`
    assigned: Mapping[str, Sequence[int]]  # name -> bindings: `exports.name = …`, `export default …`
    whole: Sequence[int]  # bindings: `module.exports = …`
    twins: Sequence[int]  # bindings of variables that get the same value in the same statement: `const app = module.exports = {}`
    functions: Sequence[int]  # definitions: `module.exports = function …`
    stars: Sequence[int]  # imports: `export * from`
    default: Sequence[int]  # definitions: `export default function …`
    is_es_module: bool
    is_module: bool  # ES module or CommonJS; a script has no exports


def exports_of(module: FileEntry) -> Exports:
    """Return the exports of a file; cached in its `FileEntry`."""
    kept: Exports | None = module.kept.get("exports")
    if kept is None:
        kept = module.kept["exports"] = _look_for_exports(module)
    return kept


def _look_for_exports(module: FileEntry) -> Exports:
    renamed: dict[str, list[int]] = {}
    assigned: dict[str, list[int]] = {}
    whole: list[int] = []
    stars: list[int] = []
    for position, found in enumerate(module.facts.imports):
        if found.kind == "reexport" and found.name == "*":
            stars.append(position)
        elif found.kind == "reexport":
            renamed.setdefault(found.exported_as, []).append(position)
    for position, binding in enumerate(module.facts.bindings):
        name = "default" if binding.op == "export" else _assigned_name(module, binding)
        if name:
            assigned.setdefault(name, []).append(position)
        elif name is not None:
            whole.append(position)
    definitions = module.definitions
    lines = {module.facts.bindings[position].line for position in whole}
    declares = any("exported" in one.modifiers for one in definitions) or bool(renamed or stars or "default" in assigned)
    return Exports(
        renamed=renamed,
        assigned=assigned,
        whole=whole,
        twins=_twins(module, whole),
        functions=[i for i, one in enumerate(definitions) if one.kind == "function" and one.parent == 0 and one.start_line in lines],
        stars=stars,
        default=[i for i, one in enumerate(definitions) if "default" in one.modifiers and one.parent == 0],
        is_es_module=declares,
        is_module=declares or bool(whole or assigned),
    )


def _twins(module: FileEntry, whole: Sequence[int]) -> list[int]:
    bindings = module.facts.bindings
    given = {(bindings[position].value, bindings[position].line) for position in whole}
    if not given:
        return []
    return [
        position
        for position, binding in enumerate(bindings)
        if binding.scope == 0 and module.terms[binding.target][0] == NAME and (binding.value, binding.line) in given
    ]


def _assigned_name(module: FileEntry, binding: Binding) -> str | None:
    """Return the name under which an assignment exports its value.

    The name is `name` for `exports.name = …` and `module.exports.name = …`, "" for `module.exports = …`, else None.
    """
    terms = module.terms
    target = terms[binding.target]
    if target[0] != ATTR or binding.op != "assign":
        return None
    base = terms[target[1]]
    if base == (NAME, "module") and target[2] == "exports":
        return ""
    if base == (NAME, "exports") or (base[0] == ATTR and base[2] == "exports" and terms[base[1]] == (NAME, "module")):
        return str(target[2])
    return None
