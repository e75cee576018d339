"""Findings of `graphmem doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.cli.render import common

if TYPE_CHECKING:
    from graphmem.cli.examination import Finding
    from graphmem.cli.output import Output

_MARKS = {"ok": ("✓", common.GOOD), "note": ("·", common.UNSURE), "bad": ("✗", common.BAD)}


def findings(output: Output, found: list[Finding]) -> None:
    """One line each, and whether all is well."""
    output.rows([(_MARKS[one.level], (one.name, common.NAME), one.said) for one in found], indent=0)
    bad = sum(one.level == "bad" for one in found)
    output.line()
    output.line(("all is well", common.GOOD) if not bad else (f"{bad} of these must be mended", common.BAD))
