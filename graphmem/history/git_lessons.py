"""Find commits that explain a trap, and make memories of them.

A trap is a mistake that the code invites; its memory has the type "gotcha". The rules intentionally accept few commits. The subject must
name a fix, and the message must explain the cause with a warning. The change must be small, so that the message is about its files. The
memories are candidates until a person confirms them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from graphmem.history.git_log import Commit
from graphmem.runtime.process.faults import fault

MOST_ASKED: Final = 400  # newest commits whose messages are read at the first index
MOST_LEARNT: Final = 20  # memories from one reading
MOST_FILES: Final = 5
MOST_CHARACTERS: Final = 500
_FIX: Final = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|bug(?:fix)?|hotfix|workaround|work around|regression|revert(?:ed|s)?|race|deadlock|leak|crash|hang)\b",
    re.IGNORECASE,
)
_CHORE: Final = re.compile(
    r"\b(?:typos?|docs?|documentation|changelog|lint|flake8|mypy|ruff|black|spelling|formatting|ci|bump|readme|annotations?|"
    r"type hints?|pragmas?|coverage|codecov|pre-commit)\b",
    re.IGNORECASE,
)
# A warning sentence: why the code broke, or what must not be repeated.
_TRAP: Final = re.compile(
    r"\b(?:because|otherwise|must(?: not|n't)? be|must not|never|be careful|beware|careful|turns? out|silently|subtle|race condition|"
    r"deadlocks?|thread[- ]safe|leaks?|infinite (?:loop|recursion)|caused? by|was caused|root cause|even (?:if|though|when)|"
    r"only when|unlike|assum(?:es?|ed|ing)|undefined behaviou?r|off[- ]by[- ]one|order matters)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`'\"(])")
_TRAILER: Final = re.compile(
    r"^(?:[A-Z][A-Za-z-]+-by|Change-Id|Reviewed-on|Closes|Fixes|Refs?|See|Signed-off-by|PR|Co-authored-by)\b.*$", re.MULTILINE
)
_ASIDE: Final = re.compile(
    r"(?:^|/)(?:tests?|testing|docs?|examples?|changelogs?|\.github)/|(?:^|/)(?:test_|conftest)|(?:^|/)\.[^/]+$|"
    r"\.(?:md|rst|adoc|asciidoc|txt|ya?ml|toml|json|lock|cfg|ini)$"
)
_DOCUMENT: Final = re.compile(r"(?:^|/)(?:docs?|changelogs?)/|\.(?:md|rst|adoc|asciidoc|txt)$", re.IGNORECASE)
_PATCH: Final = re.compile(r"^(?:diff --git |--- a/|\+\+\+ b/)", re.MULTILINE)  # a patch pasted below the message; prose ends here
_FENCED: Final = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)  # code quoted in a message
_NUMBER: Final = re.compile(r"\s*\(#\d+\)")  # of a pull request
_NOT_PROSE: Final = re.compile(r"^(?:[*\-+>|#]|\s{4}|Traceback|diff |@@)")


def may_teach(commit: Commit) -> bool:
    """Whether a commit may explain a trap, by its subject and changed paths.

    A trap is a mistake that the code invites. The message is read only if the result is True.
    """
    return (
        1 <= len(commit.touched) <= MOST_FILES * 2
        and _FIX.search(commit.subject) is not None
        and _CHORE.search(commit.subject) is None
        and any(map(_is_code, commit.touched))
    )


def lessons(
    commits: Sequence[Commit],
    messages: Mapping[str, str],
    living: Collection[str],
    faults: list[str] | None = None,
    symbols_left: Callable[[str, Sequence[str]], list[str] | None] = lambda sha, files: [],
) -> list[dict[str, Any]]:
    """Return the traps that commits explain, as arguments of `remember`.

    A trap is a mistake that the code invites. The newest come first. At most `MOST_LEARNT` are returned.

    Args:
        commits: commits for which `may_teach` is true, oldest first.
        messages: for each commit, by its hash, the message without the subject.
        living: existing paths; the memories name no other paths.
        faults: receives a sentence for each commit that caused an unexpected error and is skipped.
        symbols_left: from the hash of a commit and its existing files of code, returns the definitions that contain its code now; None if
            its code was rewritten, so that the commit explains nothing that exists.
    """
    out: list[dict[str, Any]] = []
    told: set[str] = set()  # a commit of a pull request often repeats the message of the commit that it merges
    for commit in reversed(commits):
        try:
            lesson = _lesson(commit, messages.get(commit.sha, ""), living)
            symbols = symbols_left(commit.sha, [*filter(_is_code, lesson["files"])]) if lesson is not None else None
        except Exception as error:  # noqa: BLE001 - one commit costs itself alone
            said = fault(error, "learning", f"commit {commit.sha[:12]}")
            if faults is not None:
                faults.append(f"commit {commit.sha[:12]} teaches nothing: {said}")
            continue
        text = _NUMBER.sub("", lesson["content"]) if lesson is not None else ""
        if lesson is not None and symbols is not None and text not in told:
            told.add(text)
            out.append({**lesson, "symbols": symbols})
            if len(out) == MOST_LEARNT:
                break
    return out


def _lesson(commit: Commit, message: str, living: Collection[str]) -> dict[str, Any] | None:
    """Return the trap that a commit explains; None if it explains none.

    `message` is the message without the subject, and `living` has the existing paths. The result has the arguments of `remember`. A trap is
    a mistake that the code invites.
    """
    subject = commit.subject.strip().rstrip(".")
    said = _explained(message, MOST_CHARACTERS - len(subject) - 2)
    about = (path for path in commit.touched if path in living and not _DOCUMENT.search(path))
    files = sorted(about, key=lambda path: (not _is_code(path), path))[:MOST_FILES]
    if not (said and files and _is_code(files[0])):
        return None
    return {
        "content": f"{subject}. {said}",
        "type": "gotcha",
        "title": subject[:120],
        "source": "commit_auto",
        "files": files,
        "commit_sha": commit.sha,
        "created_at": _moment(commit.at),
        "id": f"commit-{commit.sha}",
        "tags": ["git"],
    }


def _moment(at: float) -> datetime | None:
    """Return the time of a commit; None for a future or invalid time.

    `at` is the time in seconds since 1970.
    """
    try:
        made = datetime.fromtimestamp(at, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return made if made <= datetime.now(UTC) else None


def _is_code(path: str) -> bool:
    return _ASIDE.search(path) is None


def _explained(message: str, room: int) -> str:
    """Return the part of a message that warns of a trap; "" without one.

    The message is that of a commit. The part is the first sentence with a warning that has at most `room` characters. The sentences before
    and after it are added if they fit as well.
    """
    prose = [
        " ".join(paragraph.split())
        for paragraph in re.split(r"\n\s*\n", _TRAILER.sub("", _FENCED.sub("", _PATCH.split(message, maxsplit=1)[0])))
        if paragraph.strip() and not _NOT_PROSE.match(paragraph)
    ]
    sentences = [one for paragraph in prose for one in _SENTENCE.split(paragraph)]
    for place, one in enumerate(sentences):
        if _TRAP.search(one) and 40 <= len(one) <= room:
            around = (sentences[max(0, place - 1) : place + 2], sentences[place : place + 2], sentences[max(0, place - 1) : place + 1])
            return next((text for part in around if len(text := " ".join(part)) <= room), one)
    return ""
