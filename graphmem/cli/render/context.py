"""Print the context that an agent would get, and its cost in tokens."""

from __future__ import annotations

from graphmem.answers.injection import Injection
from graphmem.cli.output import Output
from graphmem.cli.rendering import renders


@renders(Injection, bare=lambda found: [found.text])
def injection(output: Output, found: Injection) -> None:
    """Print the context for an agent on stdout, and notes on stderr."""
    if found.text:
        output.text(found.text)
    else:
        output.note("nothing to show" if not found.late else "it was not ready before its deadline, so nothing is shown")
    left = ", ".join(f"{count} {reason}" for reason, count in found.left_out.items())
    took = f"{found.tokens:,} of {found.budget:,} tokens, {found.seconds * 1000:.0f} ms, trust level {found.level}"
    output.note(took + (f"; left out: {left}" if left else ""))
    for note in found.notes:
        output.note(note)
