"""`graphmem lsp` with a real client over standard input and output."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

lsp = pytest.importorskip("lsprotocol.types")
LanguageClient = pytest.importorskip("pygls.lsp.client").LanguageClient


class Client(LanguageClient):
    """A client that keeps how its server ended."""

    ended: tuple[int | None, bytes] | None = None

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        assert server.stderr is not None
        self.ended = (server.returncode, await server.stderr.read())


def test_an_editor_session(graphmem, shop: Path, environ) -> None:
    assert graphmem("index", shop, "-q").code == 0
    assert graphmem("remember", "`rounded` cuts to 2 digits for invoices.", "--type", "gotcha", "-C", shop).code == 0
    try:
        asyncio.run(asyncio.wait_for(_session(shop, environ), 240))
    finally:
        _end_server(shop)


async def _session(shop: Path, environ) -> None:
    client = Client("test", "1")
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
    assert shown == []  # a file that is not indexed yet is not an error
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
    found = await client.workspace_symbol_async(lsp.WorkspaceSymbolParams("price"))
    assert "shop/price.py" in {one.name for one in found}  # the module
    assert not [one for one in found if "<" in one.name]
    lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(document))
    assert all(one.command is None for one in lenses)
    titles = [(await client.code_lens_resolve_async(one)).command.title for one in lenses]
    assert "2 callers · 1 trap" in titles
    actions = await client.text_document_code_action_async(lsp.CodeActionParams(document, lsp.Range(use, use), lsp.CodeActionContext([])))
    assert {one.title for one in actions} == {"Show impact of Price.__init__", "Remember about Price.__init__"}
    impact = await client.workspace_execute_command_async(lsp.ExecuteCommandParams("graphmem.showImpact", [item.data]))
    assert impact["tests"]
    assert re.fullmatch(r"rounded: risk \w+; \d+ dependents in \d files?, \d of them direct; \d tests?", shown[-1])

    edit = lsp.TextDocumentContentChangeWholeDocument("\n".join([lines[0], "# not saved", "# not saved", *lines[1:]]))
    versioned = lsp.VersionedTextDocumentIdentifier(2, file.as_uri())
    client.text_document_did_change(lsp.DidChangeTextDocumentParams(versioned, [edit]))
    moved = lsp.Position(use.line + 2, use.character)
    assert (await client.text_document_hover_async(lsp.HoverParams(document, moved))) == hover
    outline = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    assert next(one for one in outline if one.name == "rounded").selection_range.start == lsp.Position(declared + 2, 4)

    assert (await client.text_document_definition_async(lsp.DefinitionParams(document, moved))).range.start == lsp.Position(declared + 2, 4)

    changed = lsp.Range(moved, lsp.Position(moved.line, moved.character))
    now = [lines[0], "# not saved", "again = rounded(2.0)", "# not saved", *lines[1:]]
    new_line = lsp.TextDocumentContentChangeWholeDocument("\n".join(now))
    client.text_document_did_change(lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(3, file.as_uri()), [new_line]))
    assert (await client.text_document_hover_async(lsp.HoverParams(document, lsp.Position(2, 10)))) == hover
    assert await client.text_document_hover_async(lsp.HoverParams(document, lsp.Position(2, 2))) is None
    actions = await client.text_document_code_action_async(lsp.CodeActionParams(document, changed, lsp.CodeActionContext([])))
    # lsprotocol reads a code action as a command whose name is the printed inner command.
    inner = {one.title: ast.literal_eval(one.command) for one in actions}
    unsaved = next(one for title, one in inner.items() if "unsaved" in title)
    impact = await client.workspace_execute_command_async(lsp.ExecuteCommandParams(unsaved["command"], unsaved["arguments"]))
    assert impact is not None
    assert "unsaved changes of shop/price.py" in shown[-1]
    remembered = next(one for title, one in inner.items() if title.startswith("Remember"))
    asked = lsp.ExecuteCommandParams(remembered["command"], [*remembered["arguments"], "Prices are rounded at the till too."])
    assert await client.workspace_execute_command_async(asked)

    asked = lsp.ExecuteCommandParams("graphmem.previewRename", [file.as_uri(), moved.line + 1, moved.character, "cut"])
    edit = await client.workspace_execute_command_async(asked)
    assert {one["textDocument"]["uri"]: len(one["edits"]) for one in edit["documentChanges"]} == {file.as_uri(): 3}
    assert all(one["needsConfirmation"] for one in edit["changeAnnotations"].values())
    for one in edit["documentChanges"][0]["edits"]:
        start, end = one["range"]["start"], one["range"]["end"]
        assert now[start["line"]][start["character"] : end["character"]] == "rounded"

    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    assert client.ended == (0, b"")


NEW = "from shop.price import rounded\n\n\ndef fresh(value):\n    return rounded(value)\n\n\nfresh(1.0)\n"


def test_a_new_file_is_answered_before_it_is_indexed(graphmem, shop: Path, environ) -> None:
    assert graphmem("index", shop, "-q").code == 0
    (shop / "shop" / "other.py").write_text("def rounded(value):\n    return value\n")
    assert graphmem("index", shop, "-q").code == 0
    try:
        asyncio.run(asyncio.wait_for(_new_file(shop, environ), 240))
    finally:
        _end_server(shop)


async def _new_file(shop: Path, environ) -> None:
    client = Client("test", "1")
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda given: None)
    await client.start_io(sys.executable, "-m", "graphmem", "lsp", str(shop), env={**os.environ, **environ})
    await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri=shop.as_uri()))
    client.initialized(lsp.InitializedParams())
    new, price = (shop / "shop" / name for name in ("unsaved.py", "price.py"))
    document = lsp.TextDocumentIdentifier(new.as_uri())
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(new.as_uri(), "python", 1, NEW)))
    symbols = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    assert [(one.name, one.selection_range.start) for one in symbols] == [("fresh", lsp.Position(3, 4))]
    declared = next(number for number, one in enumerate(price.read_text().split("\n")) if one.startswith("def rounded"))
    for use in (lsp.Position(0, 25), lsp.Position(4, 13)):
        place = await client.text_document_definition_async(lsp.DefinitionParams(document, use))
        assert (place.uri, place.range.start) == (price.as_uri(), lsp.Position(declared, 4)), "its import chooses among namesakes"
        hover = await client.text_document_hover_async(lsp.HoverParams(document, use))
        assert "def rounded(value: float) -> float" in hover.contents.value
        assert "2 callers" in hover.contents.value
    place = await client.text_document_definition_async(lsp.DefinitionParams(document, lsp.Position(7, 2)))
    assert (place.uri, place.range.start) == (new.as_uri(), lsp.Position(3, 4))
    hover = await client.text_document_hover_async(lsp.HoverParams(document, lsp.Position(7, 2)))
    assert "def fresh(value)" in hover.contents.value
    assert await client.text_document_definition_async(lsp.DefinitionParams(document, lsp.Position(4, 20))) is None
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


def test_dependents_that_a_new_signature_left_behind_are_named(graphmem, shop: Path, environ) -> None:
    file = shop / "shop" / "price.py"
    file.write_text(file.read_text().replace("def rounded(value: float)", "def rounded(value: float, digits: int)"))
    assert graphmem("index", shop, "-q").code == 0
    try:
        told = asyncio.run(asyncio.wait_for(_diagnostics(shop, file, environ), 120))
    finally:
        _end_server(shop)
    assert {uri: [len(one) for one in rows] for uri, rows in told.items() if uri != file.as_uri()} == {
        (shop / "shop" / "cart.py").as_uri(): [0],
        (shop / "shop" / "new.py").as_uri(): [0],  # is not indexed
    }
    nothing, found = told[file.as_uri()]
    assert not nothing  # memories are told first
    assert [one.code for one in found] == ["forgotten-dependents"]
    assert found[0].message.startswith("the signature of rounded changed since HEAD; 2 dependents did not change")
    lines = file.read_text().split("\n")
    for place in found[0].related_information:
        assert lines[place.location.range.start.line][place.location.range.start.character :].startswith("rounded(")


async def _diagnostics(shop: Path, file: Path, environ) -> dict[str, list]:
    """Diagnostics of documents that are opened at once, until those of `file` have dependents."""
    client = Client("test", "1")
    told: dict[str, list] = {}
    last = asyncio.Event()

    def publish(given) -> None:
        told.setdefault(given.uri, []).append(given.diagnostics)
        if given.uri == file.as_uri() and len(told[given.uri]) == 2:
            last.set()

    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(publish)
    await client.start_io(sys.executable, "-m", "graphmem", "lsp", str(shop), env={**os.environ, **environ})
    await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri=shop.as_uri()))
    client.initialized(lsp.InitializedParams())
    for path in (file, shop / "shop" / "cart.py", shop / "shop" / "new.py"):
        text = path.read_text() if path.is_file() else "new = 1\n"
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(path.as_uri(), "python", 1, text)))
    await last.wait()
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return told


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


def test_two_folders_and_chosen_features_over_a_socket(graphmem, shop: Path, environ, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "tea.py").write_text('"""Tea."""\n\n\nclass Leaf:\n    pass\n\n\nclass Mint(Leaf):\n    pass  # ä𝄞 Leaf\n')
    for folder in (shop, other):
        assert graphmem("index", folder, "-q").code == 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "graphmem", "lsp", str(shop), "--port", str(port)]
    process = subprocess.Popen(command, env={**os.environ, **environ}, stderr=subprocess.PIPE)
    try:
        asyncio.run(asyncio.wait_for(_folders(shop, other, port, process), 240))
        said = process.communicate(timeout=60)[1]
        assert (process.returncode, said) == (0, b"")
    finally:
        process.kill()
        process.wait()
        for folder in (shop, other):
            _end_server(folder)


async def _folders(shop: Path, other: Path, port: int, process: subprocess.Popen[bytes]) -> None:
    client = LanguageClient("test", "1")
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda given: None)
    while True:
        try:
            await client.start_tcp("127.0.0.1", port)
            break
        except ConnectionError:  # until it listens; the caller ends the wait
            assert process.poll() is None
            await asyncio.sleep(0.05)
    encodings = lsp.GeneralClientCapabilities(position_encodings=[lsp.PositionEncodingKind.Utf8])
    answer = await client.initialize_async(
        lsp.InitializeParams(
            capabilities=lsp.ClientCapabilities(general=encodings),
            root_uri=shop.as_uri(),
            workspace_folders=[lsp.WorkspaceFolder(one.as_uri(), one.name) for one in (shop, other)],
            initialization_options={"features": {"definition": False, "rename": True, "future": True}},
        )
    )
    offered = answer.capabilities
    assert offered.definition_provider is None
    assert offered.inlay_hint_provider is None
    assert offered.hover_provider
    assert offered.text_document_sync.change == lsp.TextDocumentSyncKind.Full, "pygls finds the lines of a part wrongly after a form feed"
    assert offered.rename_provider
    client.initialized(lsp.InitializedParams())
    file = other / "tea.py"
    document = lsp.TextDocumentIdentifier(file.as_uri())
    item = lsp.TextDocumentItem(file.as_uri(), "python", 1, file.read_text())
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
    leaf = lsp.Position(3, 7)
    (top,) = await client.text_document_prepare_type_hierarchy_async(lsp.TypeHierarchyPrepareParams(document, leaf))
    below = await client.type_hierarchy_subtypes_async(lsp.TypeHierarchySubtypesParams(top))
    assert [one.name for one in below] == ["Mint"]
    above = await client.type_hierarchy_supertypes_async(lsp.TypeHierarchySupertypesParams(below[0]))
    assert [one.name for one in above] == ["Leaf"]
    places = await client.text_document_implementation_async(lsp.ImplementationParams(document, leaf))
    assert [one.range.start for one in places] == [lsp.Position(7, 6)]
    edit = await client.text_document_rename_async(lsp.RenameParams(document, leaf, "Herb"))
    assert [(one.range.start.line, one.annotation_id) for one in edit.document_changes[0].edits] == [(3, "definition"), (7, "uses")]
    found = await client.workspace_symbol_async(lsp.WorkspaceSymbolParams("mint"))
    assert [one.location.uri for one in found] == [file.as_uri()]
    found = await client.workspace_symbol_async(lsp.WorkspaceSymbolParams("checkout"))
    assert {one.location.uri for one in found} >= {(shop / "shop" / "cart.py").as_uri()}
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


GO = {
    "go.mod": "module shop\n\ngo 1.21\n",
    "store.go": "package shop\n\ntype Store interface {\n\tLoad(key string) string\n}\n\ntype Disk struct{}\n\n"
    'func (d *Disk) Load(key string) string { return key }\n\nfunc Show(s Store) string { return s.Load("a") }\n',
}


def test_callers_of_an_interfaces_method_are_those_of_its_declaration(graphmem, tmp_path: Path, environ) -> None:
    root = tmp_path / "go"
    root.mkdir()
    for name, text in GO.items():
        (root / name).write_text(text)
    assert graphmem("index", root, "-q").code == 0
    try:
        asyncio.run(asyncio.wait_for(_callers_in_go(root, environ), 240))
    finally:
        _end_server(root)


async def _callers_in_go(root: Path, environ) -> None:
    client = Client("test", "1")
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda given: None)
    await client.start_io(sys.executable, "-m", "graphmem", "lsp", str(root), env={**os.environ, **environ})
    await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri=root.as_uri()))
    client.initialized(lsp.InitializedParams())
    file = root / "store.go"
    document, declared = lsp.TextDocumentIdentifier(file.as_uri()), lsp.Position(3, 2)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(file.as_uri(), "go", 1, file.read_text())))
    hover = await client.text_document_hover_async(lsp.HoverParams(document, declared))
    assert "1 caller" in hover.contents.value
    assert "Show" in hover.contents.value
    (item,) = await client.text_document_prepare_call_hierarchy_async(lsp.CallHierarchyPrepareParams(document, declared))
    calls = await client.call_hierarchy_incoming_calls_async(lsp.CallHierarchyIncomingCallsParams(item))
    assert [one.from_.name for one in calls] == ["Show"]
    await client.shutdown_async(None)
    client.exit(None)


SUMS = {
    "sums.js": "export function adds(a, b) {\n  return a + b;\n}\n",
    "sums.test.js": 'import { adds } from "./sums.js";\n\n'
    'describe("adds", () => {\n  it("adds v1.2 numbers", () => {\n    adds(1, 2);\n  });\n});\n',
}


def test_the_title_of_a_test_is_not_a_name_to_rename(graphmem, tmp_path: Path, environ) -> None:
    root = tmp_path / "sums"
    root.mkdir()
    for name, text in SUMS.items():
        (root / name).write_text(text)
    assert graphmem("index", root, "-q").code == 0
    try:
        asyncio.run(asyncio.wait_for(_rename_of_titles(root, environ), 240))
    finally:
        _end_server(root)


async def _rename_of_titles(root: Path, environ) -> None:
    client = Client("test", "1")
    shown: list[str] = []
    client.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda given: shown.append(given.message))
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda given: None)
    await client.start_io(sys.executable, "-m", "graphmem", "lsp", str(root), env={**os.environ, **environ})
    features = {"features": {"rename": True}}
    capabilities = lsp.ClientCapabilities()
    await client.initialize_async(lsp.InitializeParams(capabilities, root_uri=root.as_uri(), initialization_options=features))
    client.initialized(lsp.InitializedParams())
    file = root / "sums.test.js"
    document = lsp.TextDocumentIdentifier(file.as_uri())
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(file.as_uri(), "javascript", 1, file.read_text())))
    for title, place in (("adds", lsp.Position(2, 11)), ("adds v1.2 numbers", lsp.Position(3, 7))):
        assert await client.text_document_rename_async(lsp.RenameParams(document, place, "plus")) is None
        assert (
            f"the test '{title}' cannot be renamed, because its title is a string and no name; edit the string in the test file"
            in shown[-1]
        )
    edit = await client.text_document_rename_async(lsp.RenameParams(document, lsp.Position(4, 5), "plus"))
    places = {(one.text_document.uri, at.range.start.line) for one in edit.document_changes for at in one.edits}
    assert places == {((root / "sums.js").as_uri(), 0), (file.as_uri(), 0), (file.as_uri(), 4)}
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


SHOP = {
    "Cart.java": "package shop;\n\npublic class Cart {\n  public Cart() {\n    this(1);\n  }\n\n  public Cart(int size) {\n  }\n\n"
    "  public Cart copy() {\n    return new Cart(2);\n  }\n}\n",
    "Till.java": "package shop;\n\nclass Till {\n  Cart open() {\n    return new Cart();\n  }\n}\n",
}
CART = {("Cart.java", 2), ("Cart.java", 3), ("Cart.java", 7), ("Cart.java", 10), ("Cart.java", 11), ("Till.java", 3), ("Till.java", 4)}


def test_a_class_and_its_constructors_are_renamed_together(graphmem, tmp_path: Path, environ) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    for name, text in SHOP.items():
        (root / name).write_text(text)
    assert graphmem("index", root, "-q").code == 0
    try:
        asyncio.run(asyncio.wait_for(_rename_of_a_class(root, environ), 240))
    finally:
        _end_server(root)


async def _rename_of_a_class(root: Path, environ) -> None:
    client = Client("test", "1")
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda given: None)
    await client.start_io(sys.executable, "-m", "graphmem", "lsp", str(root), env={**os.environ, **environ})
    features = {"features": {"rename": True}}
    await client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=root.as_uri(), initialization_options=features))
    client.initialized(lsp.InitializedParams())
    file = root / "Cart.java"
    document = lsp.TextDocumentIdentifier(file.as_uri())
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(file.as_uri(), "java", 1, file.read_text())))
    for line, column in ((2, 14), (3, 10), (7, 10)):  # the class and both constructors
        edit = await client.text_document_rename_async(lsp.RenameParams(document, lsp.Position(line, column), "Basket"))
        places = {(one.text_document.uri.rpartition("/")[2], at.range.start.line) for one in edit.document_changes for at in one.edits}
        assert places == CART, f"renamed at line {line}"
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


def test_a_rename_tells_of_places_that_it_cannot_reach_before_files_are_saved(graphmem, tmp_path: Path, environ) -> None:
    root = tmp_path / "sums"
    root.mkdir()
    for name, text in SUMS.items():
        (root / name).write_text(text)
    assert graphmem("index", root, "-q").code == 0
    try:
        asyncio.run(asyncio.wait_for(_rename_of_edited(root, environ), 240))
    finally:
        _end_server(root)


async def _rename_of_edited(root: Path, environ) -> None:
    client = Client("test", "1")
    shown: list[str] = []
    client.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda given: shown.append(given.message))
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda given: None)
    await client.start_io(sys.executable, "-m", "graphmem", "lsp", str(root), env={**os.environ, **environ})
    features = {"features": {"rename": True}}
    capabilities = lsp.ClientCapabilities()
    await client.initialize_async(lsp.InitializeParams(capabilities, root_uri=root.as_uri(), initialization_options=features))
    client.initialized(lsp.InitializedParams())
    file = root / "sums.test.js"
    text = file.read_text().replace("adds(1, 2)", "const sum = adds(1, 2)")
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(file.as_uri(), "javascript", 1, text)))
    asked = lsp.RenameParams(lsp.TextDocumentIdentifier((root / "sums.js").as_uri()), lsp.Position(0, 17), "plus")
    edit = await client.text_document_rename_async(asked)
    places = {(one.text_document.uri, at.range.start.line) for one in edit.document_changes for at in one.edits}
    assert places == {((root / "sums.js").as_uri(), 0), (file.as_uri(), 0)}
    assert shown == ["graphmem: 1 place of adds changed since the last save; save all files, and rename again"]
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


def test_a_document_outside_the_project_is_not_answered_by_a_name_of_the_project(graphmem, tmp_path: Path, environ) -> None:
    """A rename in a file of a library would else change the project."""
    root = tmp_path / "sums"
    root.mkdir()
    (root / "sums.js").write_text(SUMS["sums.js"])
    assert graphmem("index", root, "-q").code == 0
    try:
        asyncio.run(asyncio.wait_for(_outside(root, environ), 240))
    finally:
        _end_server(root)


async def _outside(root: Path, environ) -> None:
    client = Client("test", "1")
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda given: None)
    await client.start_io(sys.executable, "-m", "graphmem", "lsp", str(root), env={**os.environ, **environ}, cwd=root)
    features = {"features": {"rename": True}}
    capabilities = lsp.ClientCapabilities()
    await client.initialize_async(lsp.InitializeParams(capabilities, root_uri=root.as_uri(), initialization_options=features))
    client.initialized(lsp.InitializedParams())
    library, inside = (root.parent / "library.js").as_uri(), (root / "sums.js").as_uri()
    use = lsp.Position(0, 2)
    for uri in (library, "git:/sums/sums.js?HEAD", "untitled:Untitled-1"):
        document = lsp.TextDocumentIdentifier(uri)
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "javascript", 1, "adds(1, 2);\n")))
        assert await client.text_document_definition_async(lsp.DefinitionParams(document, use)) is None, uri
        assert await client.text_document_hover_async(lsp.HoverParams(document, use)) is None, uri
        assert await client.text_document_rename_async(lsp.RenameParams(document, use, "plus")) is None, uri
        context = lsp.ReferenceContext(include_declaration=True)
        assert not await client.text_document_references_async(lsp.ReferenceParams(context, document, use)), uri
        assert not await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document)), uri
    document = lsp.TextDocumentIdentifier(inside)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(inside, "javascript", 1, "\n")))
    assert not await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))  # all of it was deleted
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
