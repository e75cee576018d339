"""Output of commands: answers on stdout, and messages on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, TextIO

from graphmem.answers import json_text, to_json
from graphmem.runtime.texts.safe_text import inert, inert_json, inert_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    Cell = str | int | float | tuple[str, str] | Text  # plain, (text, style), or styled


_AS_TERMINAL: Final = frozenset({"FORCE_COLOR", "TTY_COMPATIBLE"})  # in the environment; rich reads them


@dataclass
class Output:
    """Prints the answer of a command as text, as JSON, or as bare lines.

    Bare lines, which `--quiet` prints, have only names or ids. Lines are never cut or wrapped. Only terminals get colours. Control
    characters are escaped, and a cell (a string with an optional style) is always one line. The library rich is loaded only for terminals,
    because loading takes longer than most commands.
    """

    as_json: bool = False
    quiet: bool = False
    on_stderr: bool = False

    @cached_property
    def console(self) -> Console:
        """Writer of styled text to this output's stream, a `Console` of rich."""
        from rich.console import Console

        return Console(stderr=self.on_stderr, highlight=False, markup=False, emoji=False)

    @property
    def _plain(self) -> TextIO | None:
        """The stream of this output; None if the stream counts as a terminal.

        An environment variable can make any stream count as a terminal.
        """
        stream = sys.stderr if self.on_stderr else sys.stdout
        return None if stream.isatty() or _AS_TERMINAL & os.environ.keys() else stream

    @property
    def is_terminal(self) -> bool:
        """Whether this output's stream is, or counts as, a terminal."""
        return self._plain is None and self.console.is_terminal

    @cached_property
    def stderr(self) -> Output:
        """An `Output` with the same options, which prints to standard error.

        Progress, notes and errors are printed there.
        """
        return replace(self, on_stderr=True)

    def json(self, answer: object) -> None:
        """Print one JSON document on stdout."""
        sys.stdout.write(inert_json(json_text(answer)) + "\n")

    def json_line(self, answer: object) -> None:
        """Print a JSON document on one line of stdout."""
        sys.stdout.write(inert_json(json.dumps(to_json(answer), ensure_ascii=False)) + "\n")

    def line(self, *cells: Cell) -> None:
        """Print cells (texts with a style) on one line; an empty line without any."""
        if (stream := self._plain) is not None:
            stream.write("".join(map(_bare, cells)) + "\n")
            return
        self.console.print(joined(cells), soft_wrap=True)

    def text(self, text: str) -> None:
        """Print a string of several lines."""
        for line in inert_lines(text).split("\n"):
            self.line(line)

    def rows(self, rows: Iterable[Sequence[Cell]], indent: int = 2, gap: int = 2, right: Sequence[int] = ()) -> None:
        """Print rows in aligned columns.

        A row begins with `indent` spaces, and columns are `gap` spaces apart. `right` has the positions of the right-aligned columns, from
        0.
        """
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

    def show(self, answer: object, say: Callable[[], None], *bare: str) -> None:
        """Print an answer as JSON, as bare lines, or as text for people.

        Args:
            answer: the answer for JSON.
            say: prints the answer for people.
            *bare: the lines for `--quiet`.
        """
        if self.as_json:
            self.json(answer)
        elif self.quiet:
            for one in bare:
                self.line(one)
        else:
            say()

    def note(self, *cells: Cell) -> None:
        """Print one line on stderr, unless quiet or JSON was requested."""
        if not self.quiet and not self.as_json:
            self.stderr.line(*cells)


def _bare(cell: Cell) -> str:
    """Return the text of a cell without its style.

    A cell is a string with an optional style.
    """
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
    """Convert a cell (a string with an optional style) to a `Text` of rich."""
    from rich.text import Text

    if isinstance(cell, Text):
        return cell if (plain := inert(cell.plain)) == cell.plain else Text(plain, style=cell.style)
    return Text(inert(cell[0]), style=cell[1]) if isinstance(cell, tuple) else Text(_bare(cell))


def joined(cells: Iterable[Cell]) -> Text:
    """Join cells (texts with an optional style) to one `Text` of rich."""
    from rich.text import Text

    return Text.assemble(*(styled(cell) for cell in cells))


def plural(count: int, noun: str, many: str = "") -> str:
    """Return a count with its noun: `1 file`, `2,818 files`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
