"""Preview the renaming of a symbol: each place, with its certainty."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp
from lsprotocol.converters import get_converter

from graphmem.errors import BadInputError
from graphmem.lsp.editor import Editor, handles, runs
from graphmem.lsp.navigation import MOST_PLACES
from graphmem.lsp.places import last

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmem.answers import SymbolDetail
    from graphmem.answers.places import Usage
    from graphmem.lsp.editor import Project
    from graphmem.lsp.places import Texts

PREVIEW: Final = "graphmem.previewRename"
SURE: Final = 0.9  # confidence from which a use counts as sure
DEFINITION: Final = "definition"
USES: Final = "uses"
UNSURE: Final = "unsure"
OVERRIDES: Final = "overrides"
LABELS: Final = {
    DEFINITION: ("The definition", "Names that the graph does not know, such as texts and comments, stay as they are."),
    USES: ("Sure uses", f"Confidence {SURE:.0%} or more."),
    UNSURE: ("Unsure uses", f"Confidence below {SURE:.0%}: check each of them."),
    OVERRIDES: ("Overriding methods", "Methods of the same name in base classes and subclasses, with their uses."),
}


def renames(server: Editor) -> None:
    """Let an editor rename a symbol; the user confirms each edit."""

    @handles(server, lsp.TEXT_DOCUMENT_RENAME, None)
    def rename(editor: Editor, given: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        return preview_of(editor, given.text_document.uri, given.position, given.new_name)


def previews(server: Editor) -> None:
    """Let an editor get the edits of a rename before they are made."""

    @runs(server, PREVIEW, None)
    def preview(editor: Editor, uri: str, line: int, character: int, name: str) -> Any:
        found = preview_of(editor, uri, lsp.Position(line, character), name)
        return get_converter().unstructure(found, lsp.WorkspaceEdit) if found is not None else None


def preview_of(editor: Editor, uri: str, position: lsp.Position, name: str) -> lsp.WorkspaceEdit | None:
    """Return the edits that rename a symbol; each needs confirmation.

    Raises:
        BadInputError: the new name is not one word, or the symbol is a test that has a title instead of a name.
    """
    if not re.fullmatch(r"[^\W\d]\w*", name):
        raise BadInputError(f"{name!r} is not a valid name for a symbol; use letters, digits and underscores", argument="name", value=name)
    found, project, texts = editor.detail(uri, position), editor.project(uri), editor.texts(uri)
    if found is None or not found.symbol.path:
        return None
    others = [one.symbol.id for one in (*found.overrides, *found.overridden_by) if one.symbol.path]
    editor.cut(found, "overridden_by")
    edits: dict[str, dict[tuple[int, int], lsp.AnnotatedTextEdit]] = {}
    own = [found.symbol.id, *_of_one_name(project, found)]
    for target, is_other in (*((one, False) for one in own), *((one, True) for one in others)):
        for path, place, kind in _places(editor, project, texts, target):
            key = (place.start.line, place.start.character)
            edits.setdefault(path, {}).setdefault(key, lsp.AnnotatedTextEdit(OVERRIDES if is_other else kind, place, name))
    used = {one.annotation_id for here in edits.values() for one in here.values()}
    return lsp.WorkspaceEdit(
        document_changes=[
            lsp.TextDocumentEdit(
                lsp.OptionalVersionedTextDocumentIdentifier(texts.uri(path), texts.version(path)), [here[key] for key in sorted(here)]
            )
            for path, here in sorted(edits.items())
        ],
        change_annotations={
            key: lsp.ChangeAnnotation(label, needs_confirmation=True, description=text)
            for key, (label, text) in LABELS.items()
            if key in used
        },
    )


def _of_one_name(project: Project, found: SymbolDetail) -> list[str]:
    """Return the ids of the symbols that must have the same name as `found`.

    A method with the name of its class is a constructor, as in Java. So the result has the constructors of a class. For a constructor it
    has the class and the other constructors.
    """
    owner = found
    if found.parent is not None and found.parent.name == found.symbol.name and found.parent.kind != "module":
        owner = project.service().symbol(found.parent.id)
    alike = [owner.symbol, *(one for one in owner.members if one.name == owner.symbol.name and one.kind == "method")]
    return [one.id for one in alike if one.id != found.symbol.id]


def _places(editor: Editor, project: Project, texts: Texts, target: str) -> Iterator[tuple[str, lsp.Range, str]]:
    """Yield (path, range, certainty) of each occurrence of a symbol's name.

    `target` is the id of the symbol. The certainty tells whether the occurrence is the definition, a certain use or an uncertain use.

    Raises:
        BadInputError: the symbol is a test that has a title instead of a name.
    """
    found = project.service().usages(target, limit=MOST_PLACES)
    if found.total > len(found.usages):
        editor.tell(f"graphmem: {found.symbol.qualname} has {found.total:,} places; a rename does not reach all of them")
    unsaved = 0
    for one in found.usages:
        if one.role == DEFINITION and found.symbol.is_test and _is_in_quotes(texts, one):
            title = one.text
            raise BadInputError(
                f"the test {title!r} cannot be renamed, because its title is a string and no name; edit the string in the test file",
                argument="position",
                value=title,
            )
        if one.text != last(found.symbol.name):  # another name, as after `import total as t`
            continue
        place = texts.range(one)
        if place is None:
            unsaved += 1
        else:
            sure = one.confidence >= SURE
            yield one.path, place, DEFINITION if one.role == "definition" else USES if sure else UNSURE
    if unsaved:
        places = "1 place" if unsaved == 1 else f"{unsaved:,} places"
        editor.tell(f"graphmem: {places} of {found.symbol.qualname} changed since the last save; save all files, and rename again")


def _is_in_quotes(texts: Texts, found: Usage) -> bool:
    """Whether a name begins a string, as the title in `it("adds", …)`."""
    lines, line = texts.lines(found.path), texts.now(found.path, found.range.line)
    return line < len(lines) and lines[line][: found.range.column].endswith(("'", '"'))
