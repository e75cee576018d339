"""Where answers go: text for people or JSON for programs on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from graphmem.answers import to_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    Cell = str | int | float | tuple[str, str] | Text  # plain, (text, style), or styled


@dataclass
class Output:
    """How this command was asked to speak. Lines are never cut or folded; colours are for terminals only."""

    as_json: bool = False
    quiet: bool = False
    on_stderr: bool = False

    @cached_property
    def console(self) -> Console:
        """The stream as rich sees it."""
        from rich.console import Console

        return Console(stderr=self.on_stderr, highlight=False, markup=False, emoji=False)

    @cached_property
    def stderr(self) -> Output:
        """The same manners on standard error: progress, notes, refusals."""
        return replace(self, on_stderr=True)

    def json(self, answer: Any) -> None:
        """One JSON document on stdout."""
        json.dump(to_json(answer), sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")

    def line(self, *cells: Cell) -> None:
        """One line, its cells side by side; no cell gives an empty line."""
        self.console.print(joined(cells), soft_wrap=True)

    def rows(self, rows: Iterable[Sequence[Cell]], indent: int = 2, gap: int = 2, right: Sequence[int] = ()) -> None:
        """Lines whose cells start in common columns, as wide as they need to be; columns in `right` end there instead."""
        from rich.text import Text

        table = [[styled(cell) for cell in row] for row in rows]
        widths = [max((row[i].cell_len for row in table if len(row) > i), default=0) for i in range(max(map(len, table), default=0))]
        for row in table:
            line = Text(" " * indent)
            for i, cell in enumerate(row):
                pad = " " * (widths[i] - cell.cell_len)
                line.append_text(Text.assemble(pad, cell) if i in right else Text.assemble(cell, pad))
                line.append(" " * gap if widths[i] else "")
            line.rstrip()
            self.console.print(line, soft_wrap=True)

    def note(self, *cells: Cell) -> None:
        """One line on stderr for a person who did not ask for quiet."""
        if not self.quiet and not self.as_json:
            self.stderr.line(*cells)


def styled(cell: Cell) -> Text:
    """A cell as styled text."""
    from rich.text import Text

    if isinstance(cell, Text):
        return cell
    return Text(cell[0], style=cell[1]) if isinstance(cell, tuple) else Text(f"{cell:,}" if isinstance(cell, int) else str(cell))


def joined(cells: Iterable[Cell]) -> Text:
    """Cells side by side."""
    from rich.text import Text

    return Text.assemble(*(styled(cell) for cell in cells))


def plural(count: int, noun: str, many: str = "") -> str:
    """`1 file`, `2,818 files`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
