"""What is put in front of an agent, for people: the text, and what it cost."""

from __future__ import annotations

from graphmem.answers.injection import Injection
from graphmem.cli.output import Output
from graphmem.cli.rendering import renders


@renders(Injection, bare=lambda found: [found.text])
def injection(output: Output, found: Injection) -> None:
    """The text on standard output; notes on what it is made of beside it."""
    if found.text:
        output.text(found.text)
    else:
        output.note("nothing to show" if not found.late else "it was not ready by its deadline, so nothing is shown")
    left = ", ".join(f"{count} {reason}" for reason, count in found.left_out.items())
    took = f"{found.tokens:,} of {found.budget:,} tokens, {found.seconds * 1000:.0f} ms, trust level {found.level}"
    output.note(took + (f"; left out: {left}" if left else ""))
    for note in found.notes:
        output.note(note)
