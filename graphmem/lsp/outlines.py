"""Register answers on whole documents: symbols, lenses and hints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types as lsp

from graphmem.errors import SymbolNotFoundError
from graphmem.lsp.editor import Editor, handles
from graphmem.lsp.hover import lens_title, shown_name
from graphmem.lsp.places import KINDS, last

if TYPE_CHECKING:
    from graphmem.answers.outline import OutlineEntry

MOST_SYMBOLS: Final = 100  # of a search in the workspace
SHOW_IMPACT: Final = "graphmem.showImpact"


def symbols(server: Editor) -> None:
    """Let an editor list the symbols of a document."""

    @handles(server, lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, [])
    def of_document(editor: Editor, given: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        uri, texts = given.text_document.uri, editor.texts(given.text_document.uri)
        top: list[lsp.DocumentSymbol] = []
        open_: list[tuple[str, list[lsp.DocumentSymbol]]] = []
        for entry in entries(editor, uri):
            one = entry.symbol
            item = texts.item(lsp.CallHierarchyItem, one)
            inner: list[lsp.DocumentSymbol] = []
            made = lsp.DocumentSymbol(
                name=last(one.name) or one.qualname,
                kind=KINDS.get(one.kind, lsp.SymbolKind.Variable),
                range=item.range,
                selection_range=item.selection_range,
                detail=one.signature,
                children=inner,
            )
            while open_ and not one.qualname.startswith(open_[-1][0] + "."):
                open_.pop()
            (open_[-1][1] if open_ else top).append(made)
            open_.append((one.qualname, inner))
        return top


def workspace_symbols(server: Editor) -> None:
    """Let an editor find symbols in all open projects."""

    @handles(server, lsp.WORKSPACE_SYMBOL, [])
    def of_workspace(editor: Editor, given: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
        made = []
        for project in editor.projects():
            texts = editor.texts(project.root.as_uri())
            made += [
                lsp.SymbolInformation(
                    location=texts.of_symbol(one),
                    name=shown_name(one),
                    kind=KINDS.get(one.kind, lsp.SymbolKind.Variable),
                    container_name=one.path,
                )
                for one in project.service().symbols(given.query, limit=MOST_SYMBOLS).symbols
                if one.path
            ]
        return made


def lenses(server: Editor) -> None:
    """Let an editor show lines of counts above definitions (code lenses)."""

    @handles(server, lsp.TEXT_DOCUMENT_CODE_LENS, [], lsp.CodeLensOptions(resolve_provider=True))
    def of_document(editor: Editor, given: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri, texts = given.text_document.uri, editor.texts(given.text_document.uri)
        return [
            lsp.CodeLens(
                range=texts.of_symbol(entry.symbol).range,
                data={"id": entry.symbol.id, "title": lens_title(entry), "uri": uri},
            )
            for entry in _counted(editor, uri)
        ]

    @server.feature(lsp.CODE_LENS_RESOLVE)
    def resolve(_: Editor, lens: lsp.CodeLens) -> lsp.CodeLens:
        data: Any = lens.data
        lens.command = lsp.Command(title=data["title"], command=SHOW_IMPACT, arguments=[data["id"], data["uri"]])
        return lens


def hints(server: Editor) -> None:
    """Let an editor show counts in the text, such as callers (inlay hints)."""

    @handles(server, lsp.TEXT_DOCUMENT_INLAY_HINT, [])
    def of_range(editor: Editor, given: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        uri, texts = given.text_document.uri, editor.texts(given.text_document.uri)
        found = ((texts.of_symbol(entry.symbol).range.end, lens_title(entry)) for entry in _counted(editor, uri))
        first, end = given.range.start.line, given.range.end.line
        return [lsp.InlayHint(place, title, padding_left=True) for place, title in found if first <= place.line <= end]


def entries(editor: Editor, uri: str) -> list[OutlineEntry]:
    """Return the symbols of a document, with their counts and memories.

    The counts are of callers, tests and memories. Each symbol has the titles of its suspect memories: those that were written before its
    code changed. Symbols that were deleted in the editor are left out. The symbols of a file that the index lacks come from the text in the
    editor, and have no counts. A document outside the project has no symbols.
    """
    texts = editor.texts(uri)
    path = texts.path(uri)
    if not texts.is_in_project(uri):
        return []
    try:
        return [one for one in editor.project(uri).service().outline(path).entries if not texts.is_gone(one.symbol)]
    except SymbolNotFoundError:
        return editor.project(uri).service().outline(path, "\n".join(texts.lines(path))).entries


def _counted(editor: Editor, uri: str) -> list[OutlineEntry]:
    """Return the functions and classes of a document that have counts to show.

    The counts are of callers, tests and memories.
    """
    found = entries(editor, uri)
    return [one for one in found if one.symbol.kind not in ("variable", "type") and (one.callers or one.users or one.tests or one.memories)]
