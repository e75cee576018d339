"""Print texts of a language model, and passages that give reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.answers.semantic import ParagraphState, Reason, Reply
from graphmem.cli.output import Output, plural
from graphmem.cli.render import found
from graphmem.cli.render.common import DIM, HEADING, PATH, UNSURE
from graphmem.cli.rendering import renders

if TYPE_CHECKING:
    from collections.abc import Sequence


_REASONS: Final = "Passages that give reasons, but perhaps for another matter; check whether they answer the question"
_NO_REASON: Final = "No memory, document, comment or commit message that was found gives a reason; these come nearest"
_REASON_IN: Final = {"memory": "memory  ", "text": "document", "comment": "comment ", "commit": "commit  "}


@renders(Reply, bare=lambda answer: [one.text for one in answer.sentences])
def reply(output: Output, answer: Reply) -> None:
    """Print a language model's answer with its evidence.

    Each sentence has the numbers of its evidence, which is printed below.
    """
    for sentence in answer.sentences:
        output.line((sentence.text, ""), (f" [{', '.join(map(str, sentence.cites))}]", DIM))
    if answer.model:
        output.line((f"written by {answer.model} from the evidence below", DIM))
    for note in answer.notes:
        output.line((note, UNSURE))
    if answer.reasons:
        _print_reasons(output, answer.reasons)
    output.line()
    found.hits(output, answer.evidence, explain=False)


def _print_reasons(output: Output, some: Sequence[Reason]) -> None:
    """Print the passages `some`, found for a question that asks why.

    The heading states whether any of them gives a reason.
    """
    output.line()
    output.line((_REASONS if any(one.states for one in some) else _NO_REASON, HEADING))
    for one in some:
        where = f"{one.path}:{one.line}" if one.path else f"#{one.ref}" if one.kind == "memory" else one.ref[:10]
        date = one.at[:10] if one.at else ""
        title = one.title if one.kind == "commit" or not one.text.startswith(one.title.rstrip("…")) else ""
        output.line(f"  {_REASON_IN[one.kind]}  ", (where, PATH), ("  " + "  ".join(part for part in (date, title) if part), DIM))
        if one.text:
            output.line("      ", (one.text, ""))


def paragraphs(output: Output, found: ParagraphState) -> None:
    """Print how many descriptions of modules and call flows are written.

    A language model writes the descriptions. A call flow is a chain of calls that starts at an entry point.
    """
    if found.model:
        output.line((f"{found.written:,} of {plural(found.total, 'paragraph')}", HEADING), (f" written by {found.model}", DIM))
        if found.refused:
            output.line((f"{plural(found.refused, 'paragraph')} rejected, because they name code that does not exist", UNSURE))
        if found.running:
            output.line(("it is still running", DIM))
    for note in found.notes:
        output.line((note, DIM))
