"""Register answers to an editor's requests for hovers and navigation.

Navigation covers definitions, references, implementations, and hierarchies of calls and types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from graphmem.answers.hover import Hover
from graphmem.errors import SymbolNotFoundError
from graphmem.lsp.editor import Editor, handles
from graphmem.lsp.hover import SHOWN, hover_text
from graphmem.lsp.places import Item, last

if TYPE_CHECKING:
    from graphmem.answers import Site
    from graphmem.answers.places import SymbolAt

MOST_PLACES: Final = 5_000  # of references; the person is told of a longer list


def hovers(server: Editor) -> None:
    """Let an editor show facts about the symbol below the mouse."""

    @handles(server, lsp.TEXT_DOCUMENT_HOVER, None)
    def hover(editor: Editor, given: lsp.HoverParams) -> lsp.Hover | None:
        uri = given.text_document.uri
        place = editor.texts(uri).position(uri, given.position)
        if place is None:
            return None
        try:
            found = editor.project(uri).service().hover(place.path, place.line, place.column, limit=SHOWN)
        except SymbolNotFoundError:
            found = _hover_of(editor, uri, editor.at(uri, given.position))
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, hover_text(found))) if found.symbol is not None else None


def _hover_of(editor: Editor, uri: str, at: SymbolAt | None) -> Hover:
    """Return facts about a symbol, for a document that is not indexed yet.

    Of a symbol that the document itself defines, only the signature is known.
    """
    if at is None or at.symbol is None or at.symbol.path == at.path:
        return Hover(at.symbol if at is not None else None, "", False)
    texts = editor.texts(uri)
    there = texts.of_symbol(at.symbol)
    place = texts.position(there.uri, there.range.start)
    return (
        editor.project(uri).service().hover(place.path, place.line, place.column, limit=SHOWN)
        if place is not None
        else Hover(None, "", False)
    )


def definitions(server: Editor) -> None:
    """Let an editor go to the definition of a symbol."""

    @handles(server, lsp.TEXT_DOCUMENT_DEFINITION, None)
    def definition(editor: Editor, given: lsp.DefinitionParams) -> lsp.Location | None:
        uri = given.text_document.uri
        found = editor.at(uri, given.position)
        return editor.texts(uri).of_symbol(found.symbol) if found is not None and found.symbol is not None and found.symbol.path else None


def references(server: Editor) -> None:
    """Let an editor find the places that use a symbol."""

    @handles(server, lsp.TEXT_DOCUMENT_REFERENCES, [])
    def places(editor: Editor, given: lsp.ReferenceParams) -> list[lsp.Location]:
        uri = given.text_document.uri
        at, texts = editor.at(uri, given.position), editor.texts(uri)
        if at is None or at.symbol is None:
            return []
        found = editor.project(uri).service().usages(at.symbol.id, limit=MOST_PLACES)
        if found.total > len(found.usages):
            editor.tell(f"graphmem: {found.symbol.qualname} has {found.total:,} places; the first {len(found.usages):,} are listed")
        if found.possible:
            calls = "1 more call" if found.possible == 1 else f"{found.possible:,} more calls"
            editor.tell(f"graphmem: {calls} of {found.symbol.name} may mean {found.symbol.qualname}; what they call is not known")
        return [
            lsp.Location(texts.uri(one.path), place)
            for one in found.usages
            if (given.context.include_declaration or one.role != "definition") and (place := texts.range(one)) is not None
        ]


def implementations(server: Editor) -> None:
    """Let an editor go to the implementations of a symbol."""

    @handles(server, lsp.TEXT_DOCUMENT_IMPLEMENTATION, [])
    def implemented(editor: Editor, given: lsp.ImplementationParams) -> list[lsp.Location]:
        uri = given.text_document.uri
        at, texts = editor.at(uri, given.position), editor.texts(uri)
        if at is None or at.symbol is None:
            return []
        found = editor.project(uri).service().implementations(at.symbol.id, limit=MOST_PLACES)
        if found.total > len(found.implementations):
            name, listed = found.symbol.qualname, len(found.implementations)
            editor.tell(f"graphmem: {name} has {found.total:,} implementations; the first {listed:,} are listed")
        return [texts.of_symbol(one) for one in found.implementations if one.path]


def calls(server: Editor) -> None:
    """Let an editor ask for the callers and callees of a function."""

    @handles(server, lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, [])
    def prepare(editor: Editor, given: lsp.CallHierarchyPrepareParams) -> list[lsp.CallHierarchyItem]:
        return _items_at(editor, given, lsp.CallHierarchyItem)

    @handles(server, lsp.CALL_HIERARCHY_INCOMING_CALLS, [])
    def incoming(editor: Editor, given: lsp.CallHierarchyIncomingCallsParams) -> list[lsp.CallHierarchyIncomingCall]:
        uri = given.item.uri
        found, texts = editor.project(uri).service().symbol(str(given.item.data)), editor.texts(uri)
        is_abstract = "abstract" in found.modifiers  # a call runs an implementation, so its edge to the declaration is a reference
        editor.cut(found, "callers", *(["references"] if is_abstract else []))
        name = last(found.symbol.name)
        callers = [*found.callers, *(one for one in found.references if is_abstract and one.kind == "REFERENCES")]
        return [
            lsp.CallHierarchyIncomingCall(texts.item(lsp.CallHierarchyItem, one.symbol), texts.ranges(one.symbol.path, one.lines, name))
            for one in {one.symbol.id: one for one in reversed(callers) if one.symbol.path}.values()
        ][::-1]

    @handles(server, lsp.CALL_HIERARCHY_OUTGOING_CALLS, [])
    def outgoing(editor: Editor, given: lsp.CallHierarchyOutgoingCallsParams) -> list[lsp.CallHierarchyOutgoingCall]:
        uri = given.item.uri
        found, texts = editor.project(uri).service().symbol(str(given.item.data)), editor.texts(uri)
        editor.cut(found, "callees")
        path = found.symbol.path
        return [
            lsp.CallHierarchyOutgoingCall(
                texts.item(lsp.CallHierarchyItem, one.symbol), texts.ranges(path, one.lines, last(one.symbol.name))
            )
            for one in found.callees
            if one.symbol.path
        ]


def types(server: Editor) -> None:
    """Let an editor show base classes, subclasses and overrides."""

    @handles(server, lsp.TEXT_DOCUMENT_PREPARE_TYPE_HIERARCHY, [])
    def prepare(editor: Editor, given: lsp.TypeHierarchyPrepareParams) -> list[lsp.TypeHierarchyItem]:
        return _items_at(editor, given, lsp.TypeHierarchyItem)

    @handles(server, lsp.TYPE_HIERARCHY_SUPERTYPES, [])
    def above(editor: Editor, given: lsp.TypeHierarchySupertypesParams) -> list[lsp.TypeHierarchyItem]:
        found = editor.project(given.item.uri).service().symbol(str(given.item.data))
        editor.cut(found, "bases", "overrides")
        return _items(editor, given.item.uri, [*found.bases, *found.overrides])

    @handles(server, lsp.TYPE_HIERARCHY_SUBTYPES, [])
    def below(editor: Editor, given: lsp.TypeHierarchySubtypesParams) -> list[lsp.TypeHierarchyItem]:
        found = editor.project(given.item.uri).service().symbol(str(given.item.data))
        editor.cut(found, "subclasses", "overridden_by")
        return _items(editor, given.item.uri, [*found.subclasses, *found.overridden_by])


def _items(editor: Editor, uri: str, sites: list[Site]) -> list[lsp.TypeHierarchyItem]:
    texts = editor.texts(uri)
    return [texts.item(lsp.TypeHierarchyItem, one.symbol) for one in sites if one.symbol.path]


def _items_at(editor: Editor, given: lsp.TextDocumentPositionParams, kind: type[Item]) -> list[Item]:
    """Return the symbol at a position of a document as a hierarchy item.

    The result is a list, because the protocol wants one; it is [] if no symbol is there. `kind` is the class of the item: of calls or of
    types.
    """
    uri = given.text_document.uri
    found = editor.at(uri, given.position)
    one = found.symbol if found is not None else None
    return [editor.texts(uri).item(kind, one)] if one is not None and one.path else []
