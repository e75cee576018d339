"""Print the results of `graphmem doctor` and `graphmem verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.answers.upkeep import CompactAnswer, VerifyAnswer
from graphmem.cli.render import common
from graphmem.cli.rendering import renders
from graphmem.cli.traps import MENDED, READ_IN_PART, SEARCHED_AS_TEXT

if TYPE_CHECKING:
    from graphmem.cli.examination import Finding
    from graphmem.cli.output import Output

WORTH_TELLING: Final = 0.01
"""Minimum share of partly parsed files that the summary mentions."""

MANY_UNREAD: Final = 0.1
"""Minimum share of code in languages without a grammar that the summary mentions."""

_MARKS = {"ok": ("✓", common.GOOD), "note": ("·", common.UNSURE), "bad": ("✗", common.BAD)}


def findings(output: Output, found: list[Finding]) -> None:
    """Print one line for each result of `graphmem doctor`, then the verdict."""
    output.rows([(_MARKS[one.level], (one.name, common.NAME), one.said) for one in found], indent=0)
    bad = sum(one.level == "bad" for one in found)
    output.line()
    if bad:
        output.line((f"{bad} of these must be repaired", common.BAD))
    elif any(one.name in MENDED for one in found):
        output.line(("the index was damaged; run `graphmem verify` to check whether it is repaired", common.UNSURE))
    elif (in_part := _in_part(found)) >= WORTH_TELLING:
        said = f"no problems, but {in_part:.0%} of the files were only partly parsed: answers may lack their contents"
        output.line((said, common.UNSURE))
    elif (unread := _without_grammar(found)) >= MANY_UNREAD:
        said = f"no problems, but {unread:.0%} of the code files are in languages without a grammar: only search knows them"
        output.line((said, common.UNSURE))
    else:
        output.line(("all is well", common.GOOD))


def _in_part(found: list[Finding]) -> float:
    """Return the share of files that were only partly parsed, 0 to 1."""
    return next((one.data["in_part"] / max(1, one.data["files"]) for one in found if one.name == READ_IN_PART), 0.0)


def _without_grammar(found: list[Finding]) -> float:
    """Return the share of code files whose language has no grammar, 0 to 1."""
    for one in found:
        if one.name == SEARCHED_AS_TEXT:
            without = sum(one.data["languages"].values())
            return float(without / max(1, without + one.data["parsed"]))
    return 0.0


@renders(VerifyAnswer, bare=lambda _: (), refused=lambda answer: not answer.sound)
def checks(output: Output, answer: VerifyAnswer) -> None:
    """Print each check of `graphmem verify` with its remedy, then the verdict."""
    for one in answer.checks:
        output.rows([(_MARKS[one.level], (one.name, common.NAME), one.said)], indent=0)
        if one.fix:
            output.line(("    " + one.fix, common.UNSURE if one.level == "note" else common.BAD))
    bad = sum(one.level == "bad" for one in answer.checks)
    output.line()
    output.line(("all is sound", common.GOOD) if not bad else (f"{bad} of these must be repaired", common.BAD))


@renders(CompactAnswer, bare=lambda answer: [str(answer.after)])
def compacted(output: Output, answer: CompactAnswer) -> None:
    """Print the size of the database file before and after compaction."""
    output.line(f"{megabytes(answer.before)} before, {megabytes(answer.after)} now, {answer.seconds:.1f} s")


def megabytes(size: float) -> str:
    """Return a number of bytes as a string in megabytes."""
    return f"{size / 1e6:,.1f} MB"
