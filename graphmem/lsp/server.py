"""Features of the Language Server Protocol, from the index's server.

Positions come from the text in the editor. Answers are about the saved files, so in a document with unsaved changes lines are mapped to
those of the saved text. Handlers run in threads, because each asks the server over HTTP.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

import graphmem
from graphmem.errors import GraphMemError, SymbolNotFoundError
from graphmem.lsp.hover import hover_text, lens_title
from graphmem.lsp.places import KINDS, Texts, name_range, path_of

if TYPE_CHECKING:
    from graphmem.answers import Site, SymbolDetail, SymbolInfo
    from graphmem.client.connecting import Service

R = TypeVar("R")
D = TypeVar("D")

SOURCE: Final = "graphmem"
MOST_SYMBOLS: Final = 100  # of a search in the workspace
SHOW_IMPACT: Final = "graphmem.showImpact"
REMEMBER: Final = "graphmem.remember"
VERIFY: Final = "graphmem.verify"


class Editor(LanguageServer):
    """The language server of one project.

    Args:
        service: returns the server of the index; called for each request, from any thread.
    """

    def __init__(self, service: Callable[[], Service]) -> None:
        super().__init__(SOURCE, graphmem.__version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental)
        self._service = service
        self._told: set[str] = set()

    @functools.cached_property
    def root(self) -> Path:
        """The root of the project."""
        return Path(self.service().project().root).resolve()

    def service(self) -> Service:
        """The current server of the index."""
        return self._service()

    def failed(self, error: GraphMemError) -> None:
        """Show an error to the user; the same message only once."""
        self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, f"graphmem: {error.message}"))
        if error.message not in self._told:
            self._told.add(error.message)
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, f"graphmem: {error.message}"))

    def cut(self, found: SymbolDetail, *relations: str) -> None:
        """Tell the user that an answer omits the least certain edges."""
        if left := [name.replace("_", " ") for name in relations if name in found.cut]:
            said = f"graphmem: {found.symbol.qualname} has more {' and '.join(left)}; only the most certain 1,000 are listed"
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, said))

    def saved_line(self, uri: str, line: int) -> int:
        """The line of the saved text, from 1, for a line of the document, from 0."""
        document = self.workspace.get_text_document(uri)
        saved = Texts(self.root).lines(path_of(self.root, uri))
        now = document.source.split("\n")
        if saved == now or not saved:
            return line + 1
        blocks = difflib.SequenceMatcher(None, now, saved, autojunk=False).get_matching_blocks()
        before = [one for one in blocks if one.size and one.a <= line]
        if not before:
            return 1
        near = before[-1]
        return near.b + min(line - near.a, near.size - 1) + 1

    def document_range(self, uri: str, line: int, name: str) -> lsp.Range:
        """The range of a name in the document, for a line of the saved text."""
        document = self.workspace.get_text_document(uri)
        now, saved = document.source.split("\n"), Texts(self.root).lines(path_of(self.root, uri))
        if saved and saved != now:
            for one in difflib.SequenceMatcher(None, saved, now, autojunk=False).get_matching_blocks():
                if one.a <= line - 1 < one.a + one.size:
                    line = one.b + (line - 1 - one.a) + 1
                    break
        return name_range(now, line, name)

    def around(self, uri: str, position: lsp.Position) -> SymbolDetail:
        """The innermost definition around a position."""
        return self.service().symbol(f"{path_of(self.root, uri)}:{self.saved_line(uri, position.line)}")

    def at(self, uri: str, position: lsp.Position) -> SymbolDetail | None:
        """Return the symbol that the name at a position means, or None.

        The column is that of the document, which is right unless the line itself is unsaved.
        """
        line = self.saved_line(uri, position.line)
        lines = self.workspace.get_text_document(uri).source.split("\n")
        if position.line >= len(lines):
            return None
        text = lines[position.line]
        codec = self.workspace.position_codec
        column = codec.position_from_client_units([text], lsp.Position(0, position.character)).character
        found = self.service().symbol_at(path_of(self.root, uri), line, column)
        return self.service().symbol(found.symbol.id) if found.symbol is not None else None


def _last(symbol: SymbolInfo) -> str:
    return symbol.name.rpartition(".")[2]


def _answered(default: D) -> Callable[[Callable[..., R]], Callable[..., R | D]]:
    """Decorate a handler: after an error of the service, it returns `default`.

    The user sees the error. An unknown symbol is normal in an editor, where a position may be anywhere.
    """

    def decorate(handler: Callable[..., R]) -> Callable[..., R | D]:
        @functools.wraps(handler)
        def answer(editor: Editor, *given: Any) -> R | D:
            try:
                return handler(editor, *given)
            except SymbolNotFoundError:
                return default
            except GraphMemError as error:
                editor.failed(error)
                return default

        return answer

    return decorate


def build_server(service: Callable[[], Service]) -> Editor:
    """A language server without a transport."""
    server = Editor(service)
    _navigation(server)
    _hierarchy(server)
    _outlines(server)
    _actions(server)
    return server


def _navigation(server: Editor) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    @server.thread()
    @_answered(None)
    def hover(editor: Editor, given: lsp.HoverParams) -> lsp.Hover | None:
        found = editor.at(given.text_document.uri, given.position)
        if found is None:
            return None
        moves = editor.service().co_access([found.symbol.path], limit=5, min_sessions=3).hits if found.symbol.path else []
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, hover_text(found, moves)))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    @server.thread()
    @_answered(None)
    def definition(editor: Editor, given: lsp.DefinitionParams) -> lsp.Location | None:
        found = editor.at(given.text_document.uri, given.position)
        return Texts(editor.root).of_symbol(found.symbol) if found is not None and found.symbol.path else None

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    @server.thread()
    @_answered([])
    def references(editor: Editor, given: lsp.ReferenceParams) -> list[lsp.Location]:
        found = editor.at(given.text_document.uri, given.position)
        if found is None:
            return []
        editor.cut(found, "callers", "references", "subclasses")
        texts = Texts(editor.root)
        own = [texts.of_symbol(found.symbol)] if given.context.include_declaration and found.symbol.path else []
        places = texts.of_sites([*found.callers, *found.references, *found.subclasses], _last(found.symbol))
        once = {(one.uri, one.range.start.line, one.range.start.character): one for one in (*own, *places)}
        return list(once.values())

    @server.feature(lsp.TEXT_DOCUMENT_IMPLEMENTATION)
    @server.thread()
    @_answered([])
    def implementations(editor: Editor, given: lsp.ImplementationParams) -> list[lsp.Location]:
        found = editor.at(given.text_document.uri, given.position)
        texts = Texts(editor.root)
        sites = [*found.subclasses, *found.overridden_by] if found is not None else []
        return [texts.of_symbol(one.symbol) for one in sites if one.symbol.path]


def _hierarchy(server: Editor) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    @server.thread()
    @_answered([])
    def prepare(editor: Editor, given: lsp.CallHierarchyPrepareParams) -> list[lsp.CallHierarchyItem]:
        found = editor.at(given.text_document.uri, given.position)
        return [Texts(editor.root).item(found.symbol)] if found is not None and found.symbol.path else []

    @server.feature(lsp.CALL_HIERARCHY_INCOMING_CALLS)
    @server.thread()
    @_answered([])
    def incoming(editor: Editor, given: lsp.CallHierarchyIncomingCallsParams) -> list[lsp.CallHierarchyIncomingCall]:
        found, texts = editor.service().symbol(str(given.item.data)), Texts(editor.root)
        name = _last(found.symbol)
        return [
            lsp.CallHierarchyIncomingCall(texts.item(one.symbol), _ranges(texts, one.symbol.path, one, name))
            for one in found.callers
            if one.symbol.path
        ]

    @server.feature(lsp.CALL_HIERARCHY_OUTGOING_CALLS)
    @server.thread()
    @_answered([])
    def outgoing(editor: Editor, given: lsp.CallHierarchyOutgoingCallsParams) -> list[lsp.CallHierarchyOutgoingCall]:
        found, texts = editor.service().symbol(str(given.item.data)), Texts(editor.root)
        return [
            lsp.CallHierarchyOutgoingCall(texts.item(one.symbol), _ranges(texts, found.symbol.path, one, _last(one.symbol)))
            for one in found.callees
            if one.symbol.path
        ]


def _ranges(texts: Texts, path: str, site: Site, name: str) -> list[lsp.Range]:
    return [name_range(texts.lines(path), line, name) for line in site.lines]


def _outlines(server: Editor) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    @server.thread()
    @_answered([])
    def document_symbols(editor: Editor, given: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        uri = given.text_document.uri
        top: list[lsp.DocumentSymbol] = []
        open_: list[tuple[str, lsp.DocumentSymbol, list[lsp.DocumentSymbol]]] = []
        for entry in editor.service().outline(path_of(editor.root, uri)).entries:
            one = entry.symbol
            chosen = editor.document_range(uri, one.start_line, _last(one))
            last = lsp.Position(max(chosen.end.line + one.end_line - one.start_line, chosen.end.line), chosen.end.character)
            inner: list[lsp.DocumentSymbol] = []
            made = lsp.DocumentSymbol(
                name=_last(one) or one.qualname,
                kind=KINDS.get(one.kind, lsp.SymbolKind.Variable),
                range=lsp.Range(lsp.Position(chosen.start.line, 0), last if last.line > chosen.end.line else chosen.end),
                selection_range=chosen,
                detail=one.signature,
                children=inner,
            )
            while open_ and not one.qualname.startswith(open_[-1][0] + "."):
                open_.pop()
            (open_[-1][2] if open_ else top).append(made)
            open_.append((one.qualname, made, inner))
        return top

    @server.feature(lsp.WORKSPACE_SYMBOL)
    @server.thread()
    @_answered([])
    def workspace_symbols(editor: Editor, given: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
        texts = Texts(editor.root)
        return [
            lsp.SymbolInformation(
                location=texts.of_symbol(one),
                name=one.qualname or one.name,
                kind=KINDS.get(one.kind, lsp.SymbolKind.Variable),
                container_name=one.path,
            )
            for one in editor.service().symbols(given.query, limit=MOST_SYMBOLS).symbols
            if one.path
        ]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=True))
    @server.thread()
    @_answered([])
    def lenses(editor: Editor, given: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri = given.text_document.uri
        return [
            lsp.CodeLens(
                range=editor.document_range(uri, entry.symbol.start_line, _last(entry.symbol)),
                data={"id": entry.symbol.id, "title": lens_title(entry)},
            )
            for entry in editor.service().outline(path_of(editor.root, uri)).entries
            if entry.symbol.kind not in ("variable", "type") and (entry.callers or entry.tests or entry.memories)
        ]

    @server.feature(lsp.CODE_LENS_RESOLVE)
    def resolve_lens(_: Editor, lens: lsp.CodeLens) -> lsp.CodeLens:
        data: Any = lens.data
        lens.command = lsp.Command(title=data["title"], command=SHOW_IMPACT, arguments=[data["id"]])
        return lens

    def report(editor: Editor, uri: str) -> None:
        """Publish the suspect memories of a document."""
        found = editor.service().outline(path_of(editor.root, uri)).entries
        warnings = [
            lsp.Diagnostic(
                range=editor.document_range(uri, entry.symbol.start_line, _last(entry.symbol)),
                message=f"written before this code changed: {title}; verify or dispute it",
                severity=lsp.DiagnosticSeverity.Information,
                source=SOURCE,
                code="suspect-memory",
                data=title.split()[0].removeprefix("#"),
            )
            for entry in found
            for title in entry.suspect
        ]
        editor.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=uri, diagnostics=warnings))

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    @server.thread()
    @_answered(None)
    def opened(editor: Editor, given: lsp.DidOpenTextDocumentParams) -> None:
        report(editor, given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    @server.thread()
    @_answered(None)
    def saved(editor: Editor, given: lsp.DidSaveTextDocumentParams) -> None:
        report(editor, given.text_document.uri)


def _actions(server: Editor) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION)
    @server.thread()
    @_answered([])
    def actions(editor: Editor, given: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        found = editor.around(given.text_document.uri, given.range.start).symbol
        name = found.qualname or found.path
        made = [
            lsp.CodeAction(
                f"Show impact of {name}", lsp.CodeActionKind.Source, command=lsp.Command("Show impact", SHOW_IMPACT, arguments=[found.id])
            ),
            lsp.CodeAction(
                f"Remember about {name}", lsp.CodeActionKind.Source, command=lsp.Command("Remember", REMEMBER, arguments=[found.id])
            ),
        ]
        suspect = [one for one in given.context.diagnostics if one.source == SOURCE and one.data]
        made += [
            lsp.CodeAction(
                f"Verify memory #{one.data}",
                lsp.CodeActionKind.QuickFix,
                diagnostics=[one],
                command=lsp.Command("Verify", VERIFY, arguments=[one.data]),
            )
            for one in suspect
        ]
        return made

    @server.command(SHOW_IMPACT)
    @server.thread()
    @_answered(None)
    def show_impact(editor: Editor, symbol: str) -> dict[str, Any]:
        report = editor.service().impact(symbol)
        level = f"risk {report.risk.level}" + (" or higher" if report.risk.at_least else "")
        name = report.targets[0].qualname
        why = "; ".join(report.risk.reasons)
        said = f"{name}: {level}, {len(report.hits):,} dependents, {len(report.tests):,} tests; {why}"
        editor.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, said))
        texts = Texts(editor.root)
        return {
            "risk": report.risk.level,
            "hits": [
                {
                    "symbol": one.symbol.ref,
                    "confidence": one.confidence,
                    "uri": texts.of_symbol(one.symbol).uri,
                    "line": one.symbol.start_line,
                }
                for one in report.hits
            ],
            "tests": [{"symbol": one.symbol.ref, "confidence": one.confidence, "line": one.symbol.start_line} for one in report.tests],
        }

    @server.command(REMEMBER)
    @server.thread()
    @_answered("")
    def remember(editor: Editor, symbol: str, text: str = "") -> str:
        """Store a memory; the editor asks its user for the text."""
        ref = editor.service().symbol(symbol).symbol.ref
        if not text.strip():
            editor.window_show_message(
                lsp.ShowMessageParams(lsp.MessageType.Info, f'run `graphmem remember "TEXT" --symbol {ref}`, or give {REMEMBER} a text')
            )
            return ""
        found = editor.service().remember(text, symbols=[symbol])
        return found.memory.short_id

    @server.command(VERIFY)
    @server.thread()
    @_answered(None)
    def verify(editor: Editor, memory: str) -> str:
        return editor.service().verify(memory).short_id


__all__ = ["Editor", "build_server"]
