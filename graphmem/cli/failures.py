"""Print errors of commands as one sentence, and end with an exit code.

Exit codes: 1 request refused, 2 wrong usage, 3 internal error.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, Final, NoReturn

from graphmem import errors
from graphmem.answers import SymbolInfo, to_json
from graphmem.cli.output import Output
from graphmem.runtime.process.limits import refusal_of_any
from graphmem.runtime.texts.safe_text import inert, inert_lines

DONE, REFUSED, BAD_USAGE, INTERNAL, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 130, 141

# Faults of graphmem or of its installation, although they are raised on purpose.
_FAULTS: Final = (errors.QueryParameterError, errors.QueryFileError, errors.GrammarError)


def exit_code(error: errors.GraphMemError) -> int:
    """Return the exit code for an error that graphmem raised on purpose.

    The exit code depends only on the public code of the error, so it is the same with and without a server.
    """
    if isinstance(error, errors.IndexCancelledError):
        return INTERRUPTED
    if isinstance(error, _FAULTS) or type(error) is errors.GraphMemError:  # the latter is an internal error of a server
        return INTERNAL
    return BAD_USAGE if error.code == "BAD_INPUT" else REFUSED


def report(error: errors.GraphMemError, output: Output) -> NoReturn:
    """Print an error as text or JSON, and end the process with its exit code."""
    if output.as_json:
        output.json({"error": {"code": error.code, "message": error.message, **_facts(error)}})
    elif isinstance(error, errors.AmbiguousSymbolError) and error.facts.get("candidates"):
        _say_candidates(str(error.facts.get("ref", "it")), error.facts["candidates"], error.facts.get("total", 0), output.stderr)
    else:
        output.stderr.line(("graphmem: ", "bold red"), error.message)
        for suggestion in error.facts.get("suggestions", ()):
            output.stderr.line("  ", suggestion)
    raise SystemExit(exit_code(error))


def report_interrupt(output: Output, consequence: str) -> NoReturn:
    """Print one sentence after Ctrl-C, and end the process with exit code 130.

    The sentence is "graphmem: interrupted", followed by `consequence`, such as the state of the index.
    """
    output.stderr.line(f"graphmem: interrupted{consequence}")
    raise SystemExit(INTERRUPTED)


def report_unexpected(error: BaseException, output: Output) -> NoReturn:
    """Report an error that no command caught.

    An error of the operating system is reported with its cause and remedy. Any other error is a bug of graphmem.
    """
    if (refused := refusal_of_any(error)) is not None and not _debugging():
        report(refused, output)
    _say_fault(error, "internal error")
    raise SystemExit(INTERNAL)


def report_fault_of_thread(happened: threading.ExceptHookArgs) -> None:
    """Report an uncaught error in a thread; the command continues."""
    if happened.exc_value is not None and not isinstance(happened.exc_value, SystemExit):
        if (refused := refusal_of_any(happened.exc_value)) is not None and not _debugging():
            sys.stderr.write(f"graphmem: {inert(refused.message)}\n")
            return
        _say_fault(happened.exc_value, f"internal error in {happened.thread.name if happened.thread else 'a thread'}")


def _debugging() -> bool:
    return os.environ.get("GRAPHMEM_LOG_LEVEL", "").lower() == "debug"


def _say_fault(error: BaseException, where: str) -> None:
    if _debugging():
        import traceback

        sys.stderr.write(inert_lines("".join(traceback.format_exception(error))))
        return
    detail = inert(" ".join(str(error).split())) or "no message"
    sys.stderr.write(
        f"graphmem: {where}: {type(error).__name__}: {detail[:500]}\n"
        "  Run it again with GRAPHMEM_LOG_LEVEL=debug for a traceback, and please report it.\n"
    )


def _say_candidates(ref: str, candidates: list[SymbolInfo], total: int, output: Output) -> None:
    count = max(total, len(candidates))
    output.line(("graphmem: ", "bold red"), f"{ref} matches {count:,} symbols; use one of these:")
    output.rows([(one.ref, (f"{one.kind}, line {one.start_line}" + (", test" if one.is_test else ""), "dim")) for one in candidates])
    if count > len(candidates):
        output.line((f"  and {count - len(candidates):,} more; `graphmem symbol --find {ref}` lists them all", "dim"))


def _facts(error: errors.GraphMemError) -> dict[str, Any]:
    """Return the attributes of an error as JSON values.

    If a name is ambiguous, the matching symbols are listed under `candidates`. Each has a `ref`, the string that selects this symbol.
    """
    facts: dict[str, Any] = {}
    for key, value in error.facts.items():
        if key == "candidates":
            facts[key] = [{"ref": candidate.ref, **to_json(candidate)} for candidate in value]
        elif isinstance(value, (str, int, float, list, tuple, dict)) or value is None:
            facts[key] = to_json(value)
        else:
            facts[key] = str(value)
    return facts
