"""The language server's state: one editor and the projects in its folders."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from lsprotocol import types as lsp
from pygls import uris
from pygls.lsp.server import LanguageServer

import graphmem
from graphmem.answers.places import SymbolAt
from graphmem.errors import BadInputError, GraphMemError, SymbolNotFoundError
from graphmem.lsp.places import Texts
from graphmem.lsp.unindexed import find_namesake

if TYPE_CHECKING:
    from graphmem.answers import SymbolDetail
    from graphmem.client.connecting import Service

R = TypeVar("R")
D = TypeVar("D")

SOURCE: Final = "graphmem"


@dataclass(eq=False)
class Project:
    """A project whose files are in a folder of the editor's workspace.

    Args:
        service: returns the current server of the project's index; called for each request, from any thread.
    """

    service: Callable[[], Service]

    @functools.cached_property
    def root(self) -> Path:
        """The root directory of the project."""
        return Path(self.service().project().root).resolve()


class Editor(LanguageServer):
    """The language server of one editor.

    Args:
        service: returns the server of the project for which the language server was started.
        elsewhere: maps another folder of the editor's workspace to a function like `service`, for the project in this folder. None if the
            workspace has only one project.
    """

    def __init__(self, service: Callable[[], Service], elsewhere: Callable[[Path], Callable[[], Service]] | None = None) -> None:
        # Changes of parts are counted in other lines than the editor's: for pygls, a form feed or U+2028 ends a line, too.
        super().__init__(SOURCE, graphmem.__version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self._first = Project(service)
        self._elsewhere = elsewhere
        self._others: dict[Path, Project] = {}
        self._lock = threading.Lock()
        self._told: set[str] = set()

    def project(self, uri: str) -> Project:
        """Return the project to which a document belongs.

        The result is the project of the innermost workspace folder around the document, or else the first project.
        """
        path = Path(uris.to_fs_path(uri) or "").resolve()
        folders = [Path(uris.to_fs_path(one) or "").resolve() for one in self.workspace.folders]
        around = [one for one in folders if path.is_relative_to(one)]
        if self._elsewhere is None or not around or path.is_relative_to(self._first.root):
            return self._first
        folder = max(around, key=lambda one: len(one.parts))
        with self._lock:
            found = self._others.get(folder)
            if found is None:
                found = self._others[folder] = Project(self._elsewhere(folder))
            return found

    def projects(self) -> list[Project]:
        """Return the projects of all folders of the workspace, in their order."""
        found = [self._first, *(self.project(uri) for uri in self.workspace.folders)]
        return list(dict.fromkeys(found))

    def texts(self, uri: str) -> Texts:
        """Return the files of a document's project, as the editor shows them.

        A document that is open in the editor has the text in the editor, with unsaved edits.
        """
        return Texts(self.project(uri).root, self.workspace)

    def at(self, uri: str, position: lsp.Position) -> SymbolAt | None:
        """Return the symbol at a position in the editor's text, or None.

        The result is None if the saved file does not contain the name at that position, or if the document is not in the project. In a
        document of the project that the index lacks, the name is searched for in the document and in the index.
        """
        texts = self.texts(uri)
        place = texts.position(uri, position)
        if place is None:
            return None
        service = self.project(uri).service()
        try:
            return service.symbol_at(place.path, place.line, place.column)
        except SymbolNotFoundError:
            path = texts.path(uri)
            symbol = find_namesake(service, path, texts.lines(path), position.line, texts.column(path, position))
            return SymbolAt(path, symbol, "" if symbol is not None else "the index lacks this file", None, None, True)

    def detail(self, uri: str, position: lsp.Position) -> SymbolDetail | None:
        """Return the symbol at an editor's position, with its edges; None if none."""
        found = self.at(uri, position)
        return self.project(uri).service().symbol(found.symbol.id) if found is not None and found.symbol is not None else None

    def failed(self, error: GraphMemError) -> None:
        """Log an error, and show it to the person if it was not shown before."""
        self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, f"graphmem: {error.message}"))
        if error.message not in self._told:
            self._told.add(error.message)
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, f"graphmem: {error.message}"))

    def tell(self, text: str) -> None:
        """Show a message to the person at the editor."""
        self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, text))

    def cut(self, found: SymbolDetail, *relations: str) -> None:
        """Tell the person which lists of a symbol's edges are incomplete.

        A list in `found` has at most 1,000 edges, the most certain ones. Only the lists named in `relations`, such as callers, are
        reported.
        """
        if left := [name.replace("_", " ") for name in relations if name in found.cut]:
            self.tell(f"graphmem: {found.symbol.qualname} has more {' and '.join(left)}; only the most certain 1,000 are listed")


def answered(default: D) -> Callable[[Callable[..., R]], Callable[..., R | D]]:
    """Make a decorator: the decorated handler gives `default` on an error.

    The handler answers requests of an editor. An error of the service is shown to the person. An unknown symbol gives `default` without a
    message, because the cursor may be anywhere.
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


def handles(server: Editor, method: str, default: D, options: Any = None) -> Callable[[Callable[..., R]], Callable[..., R | D]]:
    """Make a decorator that registers the handler of an editor's request.

    `method` is the name of the request in the protocol, and `options` are its registration options. The handler runs in a separate thread,
    and returns `default` on an error. pygls reads the annotations of a handler, so their types must be imported at run time.
    """

    def decorate(handler: Callable[..., R]) -> Callable[..., R | D]:
        made = answered(default)(handler)
        server.feature(method, options)(server.thread()(made))
        return made

    return decorate


def runs(server: Editor, name: str, default: D) -> Callable[[Callable[..., R]], Callable[..., R | D]]:
    """Make a decorator that registers a function as the command `name`.

    The command runs in a separate thread, and returns `default` on an error. Arguments with a default may be left out.
    """

    def decorate(handler: Callable[..., R]) -> Callable[..., R | D]:
        made = answered(default)(handler)

        def run(ls: Editor, *given: Any) -> R | D:
            try:
                inspect.signature(handler).bind(ls, *given)
            except TypeError as error:
                ls.failed(
                    BadInputError(
                        f"the command {name} was given wrong arguments ({error}); update the extension of the editor", argument="arguments"
                    )
                )
                return default
            return made(ls, *given)

        server.command(name)(server.thread()(run))
        return made

    return decorate
