"""Build the language server: register the features that an editor wants.

Positions come from the text in the editor, and answers are about the saved files (see `lsp.places`). Handlers run in threads, because each
waits for answers of graphmem's HTTP server.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lsprotocol import types as lsp

from graphmem.lsp import actions, navigation, outlines, renaming
from graphmem.lsp.diagnostics import diagnostics
from graphmem.lsp.editor import Editor

if TYPE_CHECKING:
    from pathlib import Path

    from graphmem.client.connecting import Service


class Feature(NamedTuple):
    """A feature of the language server that an editor can turn on and off."""

    register: Callable[[Editor], None]
    is_on: bool = True


FEATURES: Final[Mapping[str, Feature]] = {
    "hover": Feature(navigation.hovers),
    "definition": Feature(navigation.definitions),
    "references": Feature(navigation.references),
    "implementation": Feature(navigation.implementations),
    "callHierarchy": Feature(navigation.calls),
    "typeHierarchy": Feature(navigation.types),
    "documentSymbol": Feature(outlines.symbols),
    "workspaceSymbol": Feature(outlines.workspace_symbols),
    "codeLens": Feature(outlines.lenses),
    "inlayHint": Feature(outlines.hints, is_on=False),
    "diagnostics": Feature(diagnostics),
    "codeAction": Feature(actions.actions),
    "rename": Feature(renaming.renames, is_on=False),
}
"""Features by their names in `initializationOptions.features`. A language server of the language renames better."""


def build_server(service: Callable[[], Service], elsewhere: Callable[[Path], Callable[[], Service]] | None = None) -> Editor:
    """Build the language server, without a transport such as stdio.

    For the arguments, see `Editor`.

    Its features are registered when the editor sends its options.
    """
    server = Editor(service, elsewhere)
    actions.commands(server)
    renaming.previews(server)

    @server.feature(lsp.INITIALIZE)
    def initialize(editor: Editor, given: lsp.InitializeParams) -> None:
        for name in wanted(given.initialization_options):
            FEATURES[name].register(editor)

    @server.feature(lsp.EXIT)
    def leave(*_: Any) -> None:
        logging.disable()  # answers under way have no reader any more, and each would log a traceback

    return server


def wanted(options: Any) -> list[str]:
    """Return the names of the enabled features.

    `options` can turn each feature on or off; otherwise its default applies. Options for unknown features are ignored, so that the settings
    of an editor work with every version.
    """
    asked = options.get("features") if isinstance(options, Mapping) else None
    chosen = asked if isinstance(asked, Mapping) else {}
    return [name for name, feature in FEATURES.items() if chosen.get(name, feature.is_on) is True]


__all__ = ["FEATURES", "Editor", "build_server", "wanted"]
