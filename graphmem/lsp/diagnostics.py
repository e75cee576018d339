"""Show warnings about memories, and about users of changed signatures.

A memory is suspect if it was written before its code changed. A signature counts as changed if it differs from the commit HEAD. The
comparison with HEAD is made once for all documents that were opened or saved at about the same time. Warnings are computed in a separate
thread, so that a hover never waits for the warnings of many documents.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from graphmem.errors import SymbolNotFoundError
from graphmem.lsp.editor import SOURCE, Editor, answered
from graphmem.lsp.forgotten import change, forgotten
from graphmem.lsp.outlines import entries
from graphmem.runtime.process.faults import unraised

if TYPE_CHECKING:
    from graphmem.answers import DiffImpact
    from graphmem.lsp.editor import Project

TOGETHER_S: Final = 0.2  # between the first document of a burst and its warnings


def diagnostics(server: Editor) -> None:
    """Let an editor show warnings in documents that are opened or saved."""
    reports = Reports(server)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(_: Editor, given: lsp.DidOpenTextDocumentParams) -> None:
        reports.ask(given.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(_: Editor, given: lsp.DidSaveTextDocumentParams) -> None:
        reports.ask(given.text_document.uri)


class Reports:
    """Publishes the warnings of documents in a background thread.

    Args:
        editor: the language server through which the warnings are published.
    """

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._lock = threading.Lock()
        self._waiting: dict[str, None] = {}
        self._is_running = False

    def ask(self, uri: str) -> None:
        """Request the warnings of a document; the thread publishes them soon."""
        with self._lock:
            self._waiting[uri] = None
            if self._is_running:
                return
            self._is_running = True
        threading.Thread(target=self._run, name="graphmem-diagnostics", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(TOGETHER_S)
            with self._lock:
                uris, self._waiting = list(self._waiting), {}
                if not uris:
                    self._is_running = False
                    return
            try:
                _publish(self._editor, uris)
            except Exception as error:  # noqa: BLE001 - else no document would have warnings until the editor restarts
                unraised(error, "finding the warnings")


@answered(None)
def _publish(editor: Editor, uris: list[str]) -> None:
    """Publish the warnings of the documents `uris` in two steps.

    Warnings about memories are published first. Warnings about changed signatures take longer to compute, and are added later.
    """
    warnings = {uri: _suspect(editor, uri) for uri in uris if uri in editor.workspace.text_documents}
    for uri, found in warnings.items():
        editor.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=uri, diagnostics=found))
    changes: dict[Project, DiffImpact | None] = {}
    for uri, found in warnings.items():
        project, texts = editor.project(uri), editor.texts(uri)
        if project not in changes:
            changes[project] = change(project.service())
        diff = changes[project]
        if diff is not None and (left := forgotten(texts, texts.path(uri), diff)):
            editor.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=uri, diagnostics=[*found, *left]))


def _suspect(editor: Editor, uri: str) -> list[lsp.Diagnostic]:
    """Return warnings about memories that are older than their changed code.

    Such a memory was written before its code changed. The result is empty if the document is not indexed.
    """
    texts = editor.texts(uri)
    try:
        found = entries(editor, uri)
    except SymbolNotFoundError:
        return []
    return [
        lsp.Diagnostic(
            range=texts.of_symbol(entry.symbol).range,
            message=f"written before this code changed: {title}; verify or dispute it",
            severity=lsp.DiagnosticSeverity.Information,
            source=SOURCE,
            code="suspect-memory",
            data=title.split()[0].removeprefix("#"),
        )
        for entry in found
        for title in entry.suspect
    ]
