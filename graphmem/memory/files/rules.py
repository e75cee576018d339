"""Rules that people write and that agents always get word for word.

The user's rules are in `~/.graphmem/rules.md` and `~/.graphmem/rules/*.md`. The project's rules are in `.graphmem/rules/*.md`. If a user's
rule and a project's rule have the same name, the project's rule is used. A comment `<!-- scope: glob -->` in a rule limits the rule to work
on matching files. The most specific rules come last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from graphmem.answers import Rule

FOLDER: Final = "rules"  # directory of the project's rules, inside the index directory
MAX_BYTES: Final = 64 << 10  # of one file, because rules are in every prompt
MAX_RULES: Final = 200
_LANGUAGE: Final = re.compile(r"(?:\*\*/)?\*\.(?P<ending>\w+)")
_SCOPE: Final = re.compile(r"<!--[ \t]*scope:[ \t]*(?P<glob>[^\n]*?)[ \t]*-->[ \t]*\n?")


def rules(root: Path | None, home: Path, files: Sequence[str] | None = None) -> tuple[list[Rule], list[str]]:
    """Return the rules that apply, and a sentence for each unreadable file.

    Args:
        root: root directory of the project; None when it is unknown.
        home: home directory of the user.
        files: files that an agent works on, as paths from the root; None for all rules of any scope.

    Returns:
        Rules in this order: the user's without a scope, the user's with a scope, the project's without a scope, the project's with a scope.
            Each group is sorted by name. Later rules are more specific and take precedence over earlier rules.
    """
    found: dict[str, Rule] = {}  # by name; a nearer rule replaces one of the same name
    notes: list[str] = []
    places = [("user", home / ".graphmem" / "rules.md", home)]
    for origin, above in (("user", home), ("project", root)):
        folder = above / ".graphmem" / FOLDER if above is not None else None
        if above is None or folder is None or not folder.is_dir():
            continue
        listed = sorted(folder.glob("*.md"))
        if len(listed) > MAX_RULES:
            notes.append(f"{len(listed):,} rules in {folder}; only the first {MAX_RULES} by name are used")
        places += [(origin, path, above) for path in listed[:MAX_RULES]]
    for origin, path, inside in places:
        if not path.exists():
            continue
        try:
            if not path.resolve().is_relative_to(inside.resolve()):
                notes.append(f"{path} leads out of {inside} and is not read")
                continue
            if path.stat().st_size > MAX_BYTES:
                notes.append(f"{path} has more than {MAX_BYTES:,} bytes and is not used; rules are in every prompt, keep them short")
                continue
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            notes.append(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}")
            continue
        scope = _SCOPE.search(text)
        rule = Rule(path.stem, scope["glob"] if scope else "", origin, _SCOPE.sub("", text).strip())
        if rule.text:
            found[rule.name] = rule
    apply = [one for one in found.values() if files is None or not one.scope or any(_matches(one.scope, path) for path in files)]
    return sorted(apply, key=lambda one: (one.origin != "user", bool(one.scope), one.name)), notes


def endings(scope: str) -> frozenset[str]:
    """Return the file extensions that a rule's scope names, such as `ts`.

    For example, `**/*.ts, *.tsx` gives ts and tsx. If a part of the scope is not of this form, such as `src/*.ts`, the result is empty.
    """
    globs = [one.strip() for one in scope.split(",") if one.strip()]
    found = [_LANGUAGE.fullmatch(one) for one in globs]
    return frozenset(one["ending"].lower() for one in found if one) if all(found) else frozenset()


def _matches(glob: str, path: str) -> bool:
    """Return whether a path matches a glob.

    `*` matches within one directory, `**` across directories. A bare name matches in any directory.
    """
    plain = path.replace(os.sep, "/")
    return any(_fits(one.strip(), plain) for one in glob.split(",") if one.strip())


def _fits(glob: str, path: str) -> bool:
    if "/" not in glob:
        return fnmatchcase(path.rpartition("/")[2], glob)
    return _fit_parts(glob.strip("/").split("/"), path.split("/"))


def _fit_parts(glob: list[str], path: list[str]) -> bool:
    """Return whether the parts of `path` match the parts of `glob`.

    The parts are names between slashes. Dynamic programming prevents exponential time for a glob with many `**`.
    """
    reach = {0}
    for part in glob:
        if part == "**":
            reach = set(range(min(reach), len(path) + 1)) if reach else reach
        else:
            reach = {at + 1 for at in reach if at < len(path) and fnmatchcase(path[at], part)}
    return len(path) in reach
