"""Summarise a session from its record: Markdown and a line of text.

The Markdown is for people, the line for the next session. No language model is used. A summary has files with numbers of added and removed
lines, and commands with exit codes. It also has decisions, fixed errors, duration, kind and status.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from graphmem.observe.commands.shell import program_of
from graphmem.observe.model import ErrorSeen, SessionRecord
from graphmem.runtime.texts.safe_text import inert

FOLDER: Final = "sessions"  # of the Markdown files, in the index directory
KEPT_FILES: Final = 500  # Markdown files; older ones are removed, but the summaries stay in ledger and graph
RECENT: Final = 2
LOOKED: Final = 20  # newest sessions among which the recent ones with content are searched
RECENT_DAYS: Final = 7
_LISTED: Final = 12  # named files, commands, decisions and errors; the others are counted
_SHORT: Final = 3  # of each, in the lines for the next session
_LINE: Final = 160
_PLAIN_PATH: Final = re.compile(r"[\w@.+/~\[\]()-]{1,160}\Z")  # a name, not a sentence
_ERROR_KIND: Final = re.compile(
    r"(?:error(?:\[| )?|fatal |panic: )?((?:[A-Za-z_]\w{0,40}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Warning|Interrupt|Exit|NotFound"
    r"|Refused|Failure)\b|[A-Z]{1,5}\d{3,5}\b|E[A-Z]{4,14}\b)"
)
_STATUS: Final = {
    "validated": "its checks passed",
    "failed": "its checks failed",
    "accepted": "it was accepted",
    "abandoned": "it was abandoned",
    "": "it ended",
}


def summarised(record: SessionRecord) -> dict[str, Any]:
    """Return the summary of a session as a mapping for JSON.

    Every list has at most twelve entries. The output of tools is left out. An error is described only by its kind. If the session read
    external text, the agent's words and command lines are left out too, because they may repeat that text.
    """
    info = record.info
    told = not record.contaminated
    edited = sorted(
        (one for one in record.files if one.edits), key=lambda one: (-(one.lines_added + one.lines_removed), -one.edits, one.path)
    )
    ran = [one for one in record.commands if one.action in ("run", "test")]
    fixed = [one for one in record.errors if one.fixed]
    left = [one for one in record.errors if not one.fixed]
    plain = [one for one in edited if told or _PLAIN_PATH.match(one.path)]
    return {
        "session": info.id,
        "agent": info.agent,
        "kind": info.kind,
        "title": title_of(record, "", _LINE),
        "phase": info.phase,
        "status": info.outcome,
        "ending": info.ending,
        "started_at": _iso(info.started_at),
        "ended_at": _iso(info.ended_at),
        "duration_s": round(record.duration_s, 1),
        "steps": record.steps,
        "events": record.events,
        "tokens": record.tokens,
        "files": [
            {"path": one.path, "added": one.lines_added, "removed": one.lines_removed, "edits": one.edits} for one in plain[:_LISTED]
        ],
        "files_edited": len(edited),
        "files_read": sum(bool(one.reads) for one in record.files),
        "commands": [
            {
                "command": _line(one.command) if told else program_of(one.command),
                "exit": one.last_exit,
                "runs": one.runs,
                "failures": one.failures,
            }
            for one in ran[-_LISTED:]
        ],
        "commands_run": len(ran),
        "decisions": [{"text": _line(one.text), "approved": one.approved} for one in record.decisions[-_LISTED:] if told],
        "errors_fixed": [{"error": _kind(one), "files": list(one.fix_files[:_SHORT])} for one in fixed[:_LISTED]],
        "errors_left": [_kind(one) for one in left[:_LISTED]],
        "dead_ends": [_line(one.approach) for one in record.dead_ends[:_LISTED] if told],
        "units": [{"label": _line(one.label) if told else "a unit of work", "outcome": one.outcome} for one in record.units[-_LISTED:]],
        "contaminated": record.contaminated,
        "last_message": _line(record.last_message, 300) if told else "",
    }


def says_something(summary: Mapping[str, object]) -> bool:
    """Whether a summary reports work: files, commands, decisions or errors.

    Abandoned approaches and finished tasks count too.
    """
    return any(summary[key] for key in ("files", "commands", "decisions", "errors_fixed", "errors_left", "dead_ends", "units"))


def markdown(summary: Mapping[str, Any]) -> str:
    """Format a session's summary as Markdown."""
    lines = [f"# {summary['title'] or 'Session ' + summary['session']}", "", _headline(summary), ""]
    lines += _section("Files", [_file(one) for one in summary["files"]], summary["files_edited"])
    lines += _section("Commands", [_command(one) for one in summary["commands"]], summary["commands_run"])
    lines += _section("Decisions", [f"{'approved' if one['approved'] else 'rejected'}: {one['text']}" for one in summary["decisions"]])
    lines += _section("Errors fixed", [_fixed(one) for one in summary["errors_fixed"]])
    lines += _section("Errors left", [f"`{_code(one)}`" for one in summary["errors_left"]])
    lines += _section("Given up", list(summary["dead_ends"]))
    lines += _section("Units of work", [f"{one['label']}: {_STATUS.get(one['outcome'], one['outcome'])}" for one in summary["units"]])
    if summary["contaminated"]:
        lines += ["External text was read in this session, so its summary lists actions and quotes no words.", ""]
    return "\n".join(lines).rstrip() + "\n"


def short(summary: Mapping[str, Any]) -> str:
    """Format a session's summary as one line of text for the next session."""
    parts = [_headline(summary)]
    if summary["files"]:
        names = [_file(one) for one in summary["files"][:_SHORT]]
        more = summary["files_edited"] - len(names)
        parts.append("Changed " + ", ".join(names) + (f" and {more} more." if more > 0 else "."))
    failing = [one for one in summary["commands"] if one["exit"]]
    if failing:
        parts.append("Last failing: " + ", ".join(_command(one) for one in failing[-_SHORT:]) + ".")
    if summary["decisions"]:
        decided = [f"{'approved' if one['approved'] else 'rejected'} {_quoted(one['text'])}" for one in summary["decisions"][-_SHORT:]]
        parts.append("Decided: " + "; ".join(decided) + ".")
    if summary["errors_left"]:
        parts.append("Not fixed: " + "; ".join(f"`{_code(one)}`" for one in summary["errors_left"][:_SHORT]) + ".")
    if summary["dead_ends"]:
        parts.append("Given up: " + "; ".join(_quoted(one) for one in summary["dead_ends"][:_SHORT]) + ".")
    title = f"{summary['title']}: " if summary["title"] else ""
    return title + " ".join(parts)


def write(folder: Path, summary: Mapping[str, object]) -> Path:
    """Write a session's summary to a Markdown file; replace an existing one.

    Only the newest 500 files are kept.

    Args:
        folder: directory of the summaries; created if missing.
        summary: the session's summary.

    Raises:
        OSError: the file cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / _name(summary)
    part = path.with_suffix(".part")
    part.write_text(markdown(summary), encoding="utf-8")
    part.replace(path)
    for old in sorted(folder.glob("*.md"), key=lambda one: one.name, reverse=True)[KEPT_FILES:]:
        old.unlink(missing_ok=True)
    return path


def title_of(record: SessionRecord, default: str | None = None, most: int = 80) -> str:
    """Return a session's reported title, or else the person's first words.

    If the session has read external text, the reported title is not used.

    Args:
        record: the session.
        default: title of a session with neither title nor words of a person; None for a title from the session's kind: "build session".
        most: maximum number of characters.
    """
    info = record.info
    own = "" if record.contaminated else info.title or info.work_unit
    return _line(own or record.first_message or (f"{info.kind} session" if default is None else default), most)


def _name(summary: Mapping[str, Any]) -> str:
    """Return the file name of a summary: `2026-03-01T120000-<id>.md`.

    Sorting the names sorts the summaries by time. Characters other than letters, digits, `_` and `-` are replaced. So an id cannot lead to
    a file outside the folder.
    """
    from hashlib import blake2b

    moment = re.sub(r"[^0-9T]", "", (summary["ended_at"] or summary["started_at"] or "")[:19]) or "0"
    session = summary["session"]
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", session)[:60]
    mark = "" if plain == session else "-" + blake2b(session.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{moment}-{plain}{mark}.md"


def _headline(summary: Mapping[str, Any]) -> str:
    who = f" of {summary['agent']}" if summary["agent"] else ""
    when = f" on {summary['started_at'][:16].replace('T', ' ')} UTC" if summary["started_at"] else ""
    status = _STATUS.get(summary["status"], summary["status"])
    how = " (recovered at a later start)" if summary["ending"] == "recovered" else ""
    return f"A {summary['kind']} session{who}{when}, {_duration(summary['duration_s'])}, {summary['steps']} steps; {status}{how}."


def _section(title: str, items: Sequence[str], total: int | None = None) -> list[str]:
    if not items:
        return []
    more = (total or 0) - len(items)
    return [f"## {title}", "", *(f"- {one}" for one in items), *([f"- and {more} more"] if more > 0 else []), ""]


def _file(one: Mapping[str, Any]) -> str:
    lines = f" (+{one['added']} −{one['removed']})" if one["added"] or one["removed"] else ""
    return f"`{_code(one['path'])}`{lines}"


def _command(one: Mapping[str, Any]) -> str:
    parts = [f"exit {one['exit']}"] if one["exit"] is not None else []
    parts += [f"{one['runs']} runs, {one['failures']} failed"] if one["runs"] > 1 else []
    return f"`{_code(one['command'])}`" + (f" ({', '.join(parts)})" if parts else "")


def _fixed(one: Mapping[str, Any]) -> str:
    return f"`{_code(one['error'])}`" + (f" in {_and(f'`{_code(path)}`' for path in one['files'])}" if one["files"] else "")


def _and(items: Iterable[str]) -> str:
    listed = list(items)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def _kind(one: ErrorSeen) -> str:
    """Describe an error by its class or code and its command.

    The message is left out, because it may be external text.
    """
    found = _ERROR_KIND.match(one.message)
    # A command without a program, such as a line of a shell script, says nothing: its label is the line itself.
    label = program_of(one.command) or ("a command" if one.tool.startswith("run:") else re.sub(r"[^\w:.-]", "", one.tool)[:40])
    return f"{found.group(1) if found else 'an error'}{f' of {label}' if label else ''}"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', "'") + '"'


def _code(text: str) -> str:
    """Make a string safe for use between backticks, on one line."""
    return inert(text).replace("`", "'")


def _line(text: str, most: int = _LINE) -> str:
    """Shorten a message to a line of at most `most` characters.

    Markdown headings and fences are left out.
    """
    from graphmem.memory.texts.text import clipped

    return clipped(" ".join(text.split()).lstrip("#>"), most).strip()


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 90 else f"{minutes} min" if minutes < 120 else f"{seconds / 3600:.1f} h"


def _iso(moment: datetime | None) -> str:
    return moment.isoformat(timespec="seconds") if moment is not None else ""
