"""Recognise programs among commit authors, and unite a person's names.

Git knows a person by name and address. Most projects have no mailmap, so one person commits as "Ann Lee" and as "ann lee".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

_BOT: Final = re.compile(
    r"\[bot\]$|(?:^|[ _-])(?:ro)?bot$|\bautomation$|^(?:dependabot|renovate|greenkeeper|copilot|github[ _-]?actions)\b", re.IGNORECASE
)
_AGENT: Final = re.compile(r"^(?:copilot|claude|cursor|codex|devin|jules|sweep|google-labs-jules)\b", re.IGNORECASE)
_SHARED: Final = re.compile(r"^(?:no-?reply@|root@)|@(?:localhost|[^.]*)$", re.IGNORECASE)  # addresses that several people have


def is_bot(name: str) -> bool:
    """Whether a name is that of a program, such as `renovate[bot]`."""
    return _BOT.search(name.strip()) is not None


def is_routine(name: str) -> bool:
    """Whether an author is a program that updates versions, not an agent.

    Coding agents, such as `copilot-swe-agent[bot]`, change code as people do.
    """
    return is_bot(name) and _AGENT.match(name.strip()) is None


def one_name_each(commits: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the name to show for each author, by name and address.

    Authors with the same address, or with the same name apart from case and spaces, are one person. The person's most frequent name is
    shown; of equally frequent ones the first in alphabetical order.

    Args:
        commits: name and address of the author of each commit.
    """
    counts = Counter(commits)
    root: dict[str, str] = {}

    def find(key: str) -> str:
        while (above := root.setdefault(key, key)) != key:
            key = above
        return key

    for name, address in counts:
        same = "name " + " ".join(name.casefold().split())
        find(same)
        if address and not _SHARED.search(address):
            root[find("address " + address.casefold())] = find(same)
    names: dict[str, Counter[str]] = {}
    of = {author: find("name " + " ".join(author[0].casefold().split())) for author in counts}
    for author, count in counts.items():
        names.setdefault(of[author], Counter())[author[0]] += count
    shown = {person: min(some, key=lambda name: (-some[name], name)) for person, some in names.items()}
    return {author: shown[person] for author, person in of.items()}
