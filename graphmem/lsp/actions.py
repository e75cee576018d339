"""Register the editor's code actions, and the commands that they run."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Final, TypedDict

from lsprotocol import types as lsp

from graphmem.lsp.editor import SOURCE, Editor, handles, runs
from graphmem.lsp.outlines import SHOW_IMPACT

if TYPE_CHECKING:
    from graphmem.answers import ImpactReport

UNSAVED: Final = "graphmem.showImpactOfUnsaved"
REMEMBER: Final = "graphmem.remember"
VERIFY: Final = "graphmem.verify"


class ShownPlace(TypedDict):
    """A dependent or test of changed code, with its place in the editor."""

    symbol: str
    confidence: float
    depth: int  # number of edges to the changed code
    uri: str
    line: int  # from 1


class Shown(TypedDict):
    """An impact report as JSON for an editor."""

    name: str  # the changed code
    risk: str
    hits: list[ShownPlace]  # dependents
    tests: list[ShownPlace]


def actions(server: Editor) -> None:
    """Let an editor offer actions for code, such as showing its impact."""

    @handles(server, lsp.TEXT_DOCUMENT_CODE_ACTION, [])
    def of_range(editor: Editor, given: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri, texts = given.text_document.uri, editor.texts(given.text_document.uri)
        path = texts.path(uri)
        found = editor.project(uri).service().symbol_at(path, texts.saved_line(path, given.range.start.line)).enclosing
        name, ref = (found.qualname, found.id) if found is not None else (path, path)
        made = [_action(f"Show impact of {name}", SHOW_IMPACT, ref, uri), _action(f"Remember about {name}", REMEMBER, ref, uri)]
        if texts.saved(path) != texts.lines(path):
            made.append(_action("Show impact of unsaved changes", UNSAVED, uri))
        made += [
            lsp.CodeAction(
                f"Verify memory #{one.data}",
                lsp.CodeActionKind.QuickFix,
                diagnostics=[one],
                command=lsp.Command("Verify", VERIFY, arguments=[one.data, uri]),
            )
            for one in given.context.diagnostics
            if one.source == SOURCE and one.data
        ]
        return made


def commands(server: Editor) -> None:
    """Let an editor run graphmem's commands, such as those of code actions.

    The URI of a document, which is an argument of each command, selects the project.
    """

    @runs(server, SHOW_IMPACT, None)
    def show_impact(editor: Editor, symbol: str, uri: str = "") -> Shown:
        report = editor.project(uri).service().impact(symbol)
        return _shown(editor, uri, report.targets[0].qualname, report)

    @runs(server, UNSAVED, None)
    def show_unsaved(editor: Editor, uri: str) -> Shown | None:
        texts = editor.texts(uri)
        path = texts.path(uri)
        diff = "\n".join(difflib.unified_diff(texts.saved(path), texts.lines(path), f"a/{path}", f"b/{path}", lineterm=""))
        if not diff:
            editor.tell("no unsaved changes")
            return None
        found = editor.project(uri).service().impact_of_diff(diff + "\n")
        return _shown(editor, uri, f"unsaved changes of {path}", found.impact)

    @runs(server, REMEMBER, "")
    def remember(editor: Editor, symbol: str, uri: str = "", text: str = "") -> str:
        service = editor.project(uri).service()
        ref = service.symbol(symbol).symbol.ref
        if not text.strip():
            editor.tell(f'run `graphmem remember "TEXT" --symbol {ref}`, or pass the text of the memory to {REMEMBER}')
            return ""
        return service.remember(text, symbols=[symbol]).memory.short_id

    @runs(server, VERIFY, None)
    def verify(editor: Editor, memory: str, uri: str = "") -> str:
        return editor.project(uri).service().verify(memory).short_id


def _action(title: str, command: str, *arguments: str) -> lsp.CodeAction:
    return lsp.CodeAction(title, lsp.CodeActionKind.Source, command=lsp.Command(title, command, arguments=list(arguments)))


def _many(count: int, noun: str, more: str = "") -> str:
    return f"{count:,}{more} {noun}{'s' * (count != 1 or bool(more))}"


def _shown(editor: Editor, uri: str, name: str, report: ImpactReport) -> Shown:
    """Show the person an impact report; return the report as JSON.

    The message begins with `name`, the changed code. It has the risk, and the numbers of dependents, their files and tests. The result has
    the risk, and each dependent and test with its location in the editor.
    """
    texts = editor.texts(uri or editor.projects()[0].root.as_uri())
    level = f"risk {report.risk.level}" + (" or higher" if report.risk.at_least else "")
    tests = [hit for hit in report.tests if hit.symbol.is_runnable] or report.tests
    files = len({hit.symbol.path for hit in report.hits})
    direct = sum(hit.depth == 1 for hit in report.hits)
    more = " or more" if report.truncated else ""
    near = f", {direct:,} of them direct" if direct < len(report.hits) else ""
    where = f" in {_many(files, 'file')}{near}" if report.hits else ""
    editor.tell(f"{name}: {level}; {_many(len(report.hits), 'dependent', more)}{where}; {_many(len(tests), 'test', more)}")

    def places(hits: list[Any]) -> list[ShownPlace]:
        found = ((one, texts.of_symbol(one.symbol)) for one in hits if one.symbol.path)
        return [
            {
                "symbol": one.symbol.ref,
                "confidence": one.confidence,
                "depth": one.depth,
                "uri": place.uri,
                "line": place.range.start.line + 1,
            }
            for one, place in found
        ]

    return {"name": name, "risk": report.risk.level, "hits": places(report.hits), "tests": places(tests)}
