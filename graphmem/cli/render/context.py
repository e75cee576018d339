"""Injected context as text, and its cost."""

from __future__ import annotations

from graphmem.answers.injection import Injection
from graphmem.cli.output import Output
from graphmem.cli.rendering import renders


@renders(Injection, bare=lambda found: [found.text])
def injection(output: Output, found: Injection) -> None:
    """Print injected context on standard output, and notes on standard error."""
    if found.text:
        output.text(found.text)
    else:
        output.note("nothing to show" if not found.late else "it was not ready before its deadline, so nothing is shown")
    left = ", ".join(f"{count} {reason}" for reason, count in found.left_out.items())
    took = f"{found.tokens:,} of {found.budget:,} tokens, {found.seconds * 1000:.0f} ms, trust level {found.level}"
    output.note(took + (f"; left out: {left}" if left else ""))
    for note in found.notes:
        output.note(note)
