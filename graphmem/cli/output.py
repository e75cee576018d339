"""Where answers go: text for people or JSON for programs on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TextIO

from graphmem.answers import to_json
from graphmem.runtime.safe_text import inert, inert_json, inert_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    Cell = str | int | float | tuple[str, str] | Text  # plain, (text, style), or styled


_AS_TERMINAL: Final = frozenset({"FORCE_COLOR", "TTY_COMPATIBLE"})  # in the environment; rich reads them


@dataclass
class Output:
    """How this command was asked to speak. Lines are never cut or folded; colours are for terminals only.

    Everything a command prints passes here, and becomes inert: a cell is one line, whatever is in it.

    What is no terminal gets its lines without rich, which takes longer to load than most answers to be found.
    """

    as_json: bool = False
    quiet: bool = False
    on_stderr: bool = False

    @cached_property
    def console(self) -> Console:
        """The stream as rich sees it."""
        from rich.console import Console

        return Console(stderr=self.on_stderr, highlight=False, markup=False, emoji=False)

    @property
    def _plain(self) -> TextIO | None:
        """The stream, when it is neither a terminal nor said to be treated like one."""
        stream = sys.stderr if self.on_stderr else sys.stdout
        return None if stream.isatty() or _AS_TERMINAL & os.environ.keys() else stream

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks at it, or wants it to be as if one did."""
        return self._plain is None and self.console.is_terminal

    @cached_property
    def stderr(self) -> Output:
        """The same manners on standard error: progress, notes, refusals."""
        return replace(self, on_stderr=True)

    def json(self, answer: Any) -> None:
        """One JSON document on stdout."""
        sys.stdout.write(inert_json(json.dumps(to_json(answer), indent=2, ensure_ascii=False)) + "\n")

    def line(self, *cells: Cell) -> None:
        """One line, its cells side by side; no cell gives an empty line."""
        if (stream := self._plain) is not None:
            stream.write("".join(map(_bare, cells)) + "\n")
            return
        self.console.print(joined(cells), soft_wrap=True)

    def text(self, text: str) -> None:
        """A text of several lines."""
        for line in inert_lines(text).split("\n"):
            self.line(line)

    def rows(self, rows: Iterable[Sequence[Cell]], indent: int = 2, gap: int = 2, right: Sequence[int] = ()) -> None:
        """Lines whose cells start in common columns, as wide as they need to be; columns in `right` end there instead."""
        if (stream := self._plain) is not None:
            stream.writelines(_bare_rows(rows, indent, gap, right))
            return
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

    def show(self, answer: Any, say: Callable[[], None], *bare: str) -> None:
        """An answer as it was asked for.

        Args:
            answer: printed as JSON.
            say: prints it for people.
            *bare: the lines that are left of it when nothing else is wanted.
        """
        if self.as_json:
            self.json(answer)
        elif self.quiet:
            for one in bare:
                self.line(one)
        else:
            say()

    def note(self, *cells: Cell) -> None:
        """One line on stderr for a person who did not ask for quiet."""
        if not self.quiet and not self.as_json:
            self.stderr.line(*cells)


def _bare(cell: Cell) -> str:
    """A cell as text without any style."""
    if isinstance(cell, tuple):
        cell = cell[0]
    return inert(f"{cell:,}" if isinstance(cell, int) else str(cell))


def _bare_rows(rows: Iterable[Sequence[Cell]], indent: int, gap: int, right: Sequence[int]) -> Iterator[str]:
    from rich.cells import cell_len

    table = [[_bare(cell) for cell in row] for row in rows]
    widths = [max((cell_len(row[i]) for row in table if len(row) > i), default=0) for i in range(max(map(len, table), default=0))]
    for row in table:
        line = " " * indent
        for i, cell in enumerate(row):
            pad = " " * (widths[i] - cell_len(cell))
            line += (pad + cell if i in right else cell + pad) + (" " * gap if widths[i] else "")
        yield line.rstrip() + "\n"


def styled(cell: Cell) -> Text:
    """A cell as styled text."""
    from rich.text import Text

    if isinstance(cell, Text):
        return cell if (plain := inert(cell.plain)) == cell.plain else Text(plain, style=cell.style)
    return Text(inert(cell[0]), style=cell[1]) if isinstance(cell, tuple) else Text(_bare(cell))


def joined(cells: Iterable[Cell]) -> Text:
    """Cells side by side."""
    from rich.text import Text

    return Text.assemble(*(styled(cell) for cell in cells))


def plural(count: int, noun: str, many: str = "") -> str:
    """`1 file`, `2,818 files`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
