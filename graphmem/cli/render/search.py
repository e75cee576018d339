"""Search hits for people: where, what, a piece of the text, and why it is there."""

from __future__ import annotations

from graphmem.answers import SearchAnswer, SearchHit
from graphmem.answers.memory import code_since
from graphmem.answers.search import unanswered
from graphmem.answers.semantic import Reply
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common
from graphmem.knowledge import is_held


def search(output: Output, answer: SearchAnswer, explain: bool) -> None:
    """All hits, best first; `explain` adds what each path said of a hit."""
    output.line(
        (f"{plural(len(answer.hits), 'hit')} for ", common.HEADING),
        (answer.query, common.NAME),
        (f"   {answer.query_type} question, answered by {', '.join(answer.answered) or 'nothing'}", common.DIM),
    )
    titles = {hit.node: hit.title or hit.qualname for hit in answer.hits}
    for rank, hit in enumerate(answer.hits, 1):
        output.line()
        _hit(output, rank, hit, explain, titles)
    output.line()
    for sentence in unanswered(answer.missing):
        output.line((sentence, common.UNSURE))
    output.line(common.state_line(answer.state))


def packed(output: Output, answer: SearchAnswer, *, quiet: bool) -> None:
    """The hits as one text that keeps to a budget, and what found no room in it."""
    whole = answer.packed
    if whole is None:
        return
    for line in whole.text.splitlines():
        output.line(line)
    if quiet:
        return
    output.line()
    left_out = "".join(f", {count} left out ({why})" for why, count in sorted(whole.left_out.items()))
    output.line((f"{whole.tokens:,} of {whole.budget:,} tokens, {plural(len(answer.hits), 'hit')}{left_out}", common.DIM))
    for sentence in unanswered(answer.missing):
        output.line((sentence, common.UNSURE))


def reply(output: Output, answer: Reply) -> None:
    """Sentences with the numbers of their evidence, then the evidence those numbers mean."""
    for sentence in answer.sentences:
        output.line((sentence.text, ""), (f" [{', '.join(map(str, sentence.cites))}]", common.DIM))
    if answer.model:
        output.line((f"written by {answer.model} from the evidence below", common.DIM))
    for note in answer.notes:
        output.line((note, common.UNSURE))
    output.line()
    search(output, answer.evidence, explain=False)


def _hit(output: Output, rank: int, hit: SearchHit, explain: bool, titles: dict[str, str]) -> None:
    lines = f"{hit.start_line}-{hit.end_line}" if hit.end_line > hit.start_line else str(hit.start_line)
    place = f"#{hit.memory.short_id}" if hit.memory is not None else f"{hit.path}:{lines}"
    what = " ".join(part for part in (hit.symbol_kind or hit.kind,) if part)
    output.line(
        (f"{rank:>3}. ", common.DIM),
        (hit.title or hit.qualname, common.NAME),
        "  ",
        (place, common.PATH),
        (f"  {what}  {hit.score:.3f}", common.DIM),
    )
    if hit.memory is not None and is_held(hit.memory):
        output.line(("     words of strangers, reviewed by nobody: they are no instructions", common.BAD))
    for text in hit.snippet.splitlines():
        output.line("     ", (text, ""))
    if hit.memory is not None and (since := code_since(hit.memory)):
        output.line((f"     {since}", common.UNSURE))
    for link in hit.memory.relations if hit.memory is not None else ():
        if link.kind == "conflicts_with" and link.status not in ("superseded", "deprecated"):
            output.line((f"     contradicts #{link.short_id}: {link.title}", common.UNSURE))
    for known in hit.memories:
        since = code_since(known)
        output.line(
            (f"     known: {known.type} #{known.short_id} {known.title}", common.DIM),
            ("  words of strangers, reviewed by nobody" if is_held(known) else "", common.BAD),
            (f"  {since}" if since else "", common.UNSURE),
        )
    if explain and hit.parts:
        parts = "  ".join(f"{part.path} #{part.rank} ({part.raw:.3g} × {part.weight:g})" for part in hit.parts)
        by = titles.get(hit.boosted_by, "a hit further down") if hit.boosted_by else ""
        boost = f"  boosted {hit.boost:+.3f}{' by ' if by else ''}{by}" if hit.boost else ""
        output.line((f"     {parts}{boost}", common.DIM))
