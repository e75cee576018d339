"""`graphmem lsp` with a real client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

lsp = pytest.importorskip("lsprotocol.types")
LanguageClient = pytest.importorskip("pygls.lsp.client").LanguageClient


def test_an_editor_session(graphmem, shop: Path, environ) -> None:
    assert graphmem("index", shop, "-q").code == 0
    assert graphmem("remember", "`rounded` cuts to 2 digits for invoices.", "--type", "gotcha", "-C", shop).code == 0
    try:
        asyncio.run(asyncio.wait_for(_session(shop, environ), 240))
    finally:
        _end_server(shop)


async def _session(shop: Path, environ) -> None:
    client = LanguageClient("test", "1")
    shown: list[str] = []
    client.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda given: shown.append(given.message))
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda given: None)
    await client.start_io(sys.executable, "-m", "graphmem", "lsp", str(shop), env={**os.environ, **environ})
    await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri=shop.as_uri()))
    client.initialized(lsp.InitializedParams())
    file = shop / "shop" / "price.py"
    text = file.read_text()
    document = lsp.TextDocumentIdentifier(file.as_uri())
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(file.as_uri(), "python", 1, text)))
    lines = text.split("\n")
    line = next(number for number, one in enumerate(lines) if "self.value = rounded(" in one)
    use = lsp.Position(line, lines[line].index("rounded") + 2)
    declared = next(number for number, one in enumerate(lines) if one.startswith("def rounded"))

    hover = await client.text_document_hover_async(lsp.HoverParams(document, use))
    for part in ("def rounded(value: float) -> float", "2 callers", "**gotcha**"):
        assert part in hover.contents.value, part
    assert await client.text_document_hover_async(lsp.HoverParams(document, lsp.Position(1, 0))) is None
    assert await client.text_document_hover_async(lsp.HoverParams(document, lsp.Position(10_000, 0))) is None
    unknown = lsp.TextDocumentIdentifier((shop / "new.py").as_uri())
    assert await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(unknown)) == []
    assert shown == []  # a file that is not indexed yet is no error
    wrong = lsp.ExecuteCommandParams("graphmem.verify", ["nothing"])
    for _ in range(2):
        assert await client.workspace_execute_command_async(wrong) is None
    assert len(shown) == 1, shown
    assert "nothing" in shown[0]
    place = await client.text_document_definition_async(lsp.DefinitionParams(document, use))
    assert (place.uri, place.range.start) == (file.as_uri(), lsp.Position(declared, 4))
    asked = lsp.ReferenceParams(lsp.ReferenceContext(True), document, use)
    places = await client.text_document_references_async(asked)
    assert {(one.range.start.line, lines[one.range.start.line][one.range.start.character :][:7]) for one in places} == {
        (number, "rounded") for number, one in enumerate(lines) if "rounded(" in one
    }
    (item,) = await client.text_document_prepare_call_hierarchy_async(lsp.CallHierarchyPrepareParams(document, use))
    calls = await client.call_hierarchy_incoming_calls_async(lsp.CallHierarchyIncomingCallsParams(item))
    assert {one.from_.name for one in calls} == {"Price.__init__", "Price.total"}
    symbols = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    assert {one.name: [inner.name for inner in one.children] for one in symbols} == {"rounded": [], "Price": ["__init__", "total"]}
    found = await client.workspace_symbol_async(lsp.WorkspaceSymbolParams("checkout"))
    assert "checkout" in {one.name for one in found}
    lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(document))
    assert all(one.command is None for one in lenses)
    titles = [(await client.code_lens_resolve_async(one)).command.title for one in lenses]
    assert "2 callers · 1 trap" in titles
    actions = await client.text_document_code_action_async(lsp.CodeActionParams(document, lsp.Range(use, use), lsp.CodeActionContext([])))
    assert {one.title for one in actions} == {"Show impact of Price.__init__", "Remember about Price.__init__"}
    impact = await client.workspace_execute_command_async(lsp.ExecuteCommandParams("graphmem.showImpact", [item.data]))
    assert impact["tests"]
    assert "rounded: risk" in shown[-1]

    above = lsp.Range(lsp.Position(1, 0), lsp.Position(1, 0))
    edit = lsp.TextDocumentContentChangePartial(range=above, text="# not saved\n# not saved\n")
    versioned = lsp.VersionedTextDocumentIdentifier(2, file.as_uri())
    client.text_document_did_change(lsp.DidChangeTextDocumentParams(versioned, [edit]))
    moved = lsp.Position(use.line + 2, use.character)
    assert (await client.text_document_hover_async(lsp.HoverParams(document, moved))) == hover
    outline = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    assert next(one for one in outline if one.name == "rounded").selection_range.start == lsp.Position(declared + 2, 4)

    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


def _end_server(shop: Path) -> None:
    """End the server that the session started."""
    owner = shop / ".graphmem" / "owner.json"
    if not owner.is_file():
        return
    os.kill(json.loads(owner.read_text())["pid"], signal.SIGTERM)
    end = time.monotonic() + 60
    while owner.is_file() and time.monotonic() < end:
        time.sleep(0.1)
    assert not owner.exists()
