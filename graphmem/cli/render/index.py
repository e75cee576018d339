"""Print the summary of an index run."""

from __future__ import annotations

import shlex

from graphmem.answers import IndexSummary
from graphmem.cli.output import Output, plural
from graphmem.cli.render import common

_DIAGNOSTICS_SHOWN = 5
_ORDER = ("error", "warning", "note")
_SEVERITIES = {"error": common.BAD, "warning": common.UNSURE}


def summary(output: Output, run: IndexSummary, project: str, every: bool = False) -> None:
    """Print the summary of an index run.

    With `every`, the rules that made the edges, the seconds of each stage, and more diagnostics are listed.
    """
    wall = sum(run.seconds.values())
    output.line(
        ("Indexed ", common.HEADING),
        (project, common.NAME),
        f"  {run.mode}, generation {run.generation}, {wall:.1f} s",
        (f" (CPU {run.cpu_seconds:.1f} s, peak {run.peak_memory_mb:,.0f} MB)", common.DIM),
    )
    skipped = sum(run.skipped.values())
    resolved = run.call_sites - run.unresolved
    edges = sum(run.edges_by_kind.values())
    elsewhere = f" ({run.unresolved_elsewhere:,} of these have names that the project does not define)" if run.unresolved_elsewhere else ""
    if run.mode == "incremental":
        output.line(f"  {plural(run.changed, 'file')} changed, {run.removed:,} removed")
    output.line()
    output.rows(
        [
            ("files", run.files, (_counts(run.languages), common.DIM)),
            ("symbols", run.symbols),
            ("chunks", run.chunks),
            ("edges", edges, (_counts(run.edges_by_kind), common.DIM)),
            ("call sites", run.call_sites, f"{resolved:,} resolved, {run.unresolved:,} not{elsewhere}"),
            ("skipped", skipped, (_counts(run.skipped), common.DIM)),
        ],
        right=(1,),
    )
    if every:
        _by_rule(output, "Edges by rule", run.edges_by_rule)
        _by_rule(output, "Unresolved by reason", run.unresolved_by_reason)
    if run.seconds and every:
        output.line()
        output.line(("Seconds  ", common.HEADING), "  ".join(f"{stage} {seconds:.2f}" for stage, seconds in run.seconds.items()))
    _diagnostics(output, run, every)


def _counts(table: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(table.items(), key=lambda item: (-item[1], item[0])) if count)


def _by_rule(output: Output, title: str, table: dict[str, int]) -> None:
    if not table:
        return
    ordered = sorted(table.items(), key=lambda item: (-item[1], item[0]))
    output.line()
    output.line((title, common.HEADING))
    output.rows([(name, count) for name, count in ordered], right=(1,))


def next_steps(output: Output, central: str, option: str) -> None:
    """Print what to do after the first run, with a symbol of this project.

    Args:
        output: where to print.
        central: reference of a symbol that much code depends on; "" if there is none.
        option: option with which commands find the index; "" if they need none. `graphmem install` is for the current directory, so it is
            left out if there is an option.
    """
    end = f" {option}" if option else ""
    agent = ("graphmem install claude-code", "tell a coding agent what is known (also cursor, codex, gemini, opencode)")
    steps = [
        (f"graphmem impact {shlex.quote(central)}{end}", "what breaks if this changes, and the tests to run") if central else None,
        (f'graphmem search "how is …"{end}', "find code by words and meaning"),
        (f"graphmem serve{end}", "open the explorer in the browser, and follow changes"),
        None if option else agent,
    ]
    output.line()
    output.line(("Next", common.HEADING))
    output.rows([((command, common.NAME), (purpose, common.DIM)) for command, purpose in filter(None, steps)])


def _diagnostics(output: Output, run: IndexSummary, every: bool) -> None:
    if not run.diagnostic_count:
        return
    # A language that is searched as text only counts more than a part of one file. The sort is stable: by path within a severity.
    ordered = sorted(run.diagnostics, key=lambda one: (one.severity != "error" and one.code != "text_only", _ORDER.index(one.severity)))
    shown = ordered if every else ordered[:_DIAGNOSTICS_SHOWN]
    output.line()
    scope = "" if run.mode == "full" else "; only of files read now, `graphmem doctor` names all files that were read in part"
    output.line(("Diagnostics", common.HEADING), (f"  {run.diagnostic_count:,}{scope}", common.DIM))
    output.rows(
        [
            (
                (one.severity, _SEVERITIES.get(one.severity, "")),
                common.place(one.path, one.line) if one.path else "",
                one.message,
                (one.code, common.DIM),
            )
            for one in shown
        ]
    )
    if more := common.cut(len(shown), run.diagnostic_count, "--json lists 200" if every else "--verbose shows up to 200"):
        output.line(("  " + more, common.DIM))
