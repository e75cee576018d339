"""Decide whether a finding occurred in a large enough share of sessions.

The share is the number of sessions with the finding, divided by the number of sessions in which it could occur. For example, three of four
sessions read a file and did not use it. Then the file is probably not useful. Three of a hundred such sessions mean nothing.

The lower end of the share's confidence interval must reach a minimum. The share alone is not enough, because it is tested after every
session and would reach the minimum by chance sooner or later.

Some signals (kinds of findings) can occur by chance. For each of them, the table `RATES` has the sessions to count and the minimum.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.observe.model import Finding
from graphmem.observe.signals import SIGNALS

if TYPE_CHECKING:
    from graphmem.observe.ledger.ledger import Ledger

MODULE: Final = "module"  # sessions with most edits in the module of the finding
READ: Final = "read"  # sessions that used the file of the finding
EDITED: Final = "edited"  # sessions that edited the file of the finding
PAIR: Final = "pair"  # sessions that edited (or used) the file of the pair that is in more sessions
Z: Final = 1.2816  # quantile of the normal distribution at 90 %
LIFT: Final = 1.5  # for one-way pairs: how much likelier than in other sessions of the module


class Rate(NamedTuple):
    """The minimum share of sessions in which a kind of finding must occur.

    `of` names the sessions that are counted, for example all sessions that edited the file. At least the share `least` of these sessions
    must have made the finding.
    """

    of: str
    least: float  # share of those sessions
    fact: str = "file"  # key of the fact that names the file


RATES: Final[Mapping[str, Rate]] = MappingProxyType(
    {
        "file_access": Rate(MODULE, 0.75),  # "most sessions of a module", between often (half) and always (four fifths)
        "co_access": Rate(PAIR, 0.7),  # four sessions of four, eight of nine
        "read_abandon": Rate(MODULE, 0.3),
        "tool_sequence": Rate(MODULE, 0.2),
        "test_order": Rate(MODULE, 0.2),
        "step_overrun": Rate(MODULE, 0.3),
        "external_reference": Rate(MODULE, 0.2),
        "backtrack": Rate(EDITED, 0.25),
        "config_touch": Rate(EDITED, 0.5, "config"),
        "context_token_spike": Rate(READ, 0.5),
        "import_chase": Rate(READ, 0.3, "from"),
    }
)


class Share(NamedTuple):
    """Number of sessions with a pattern, and of sessions that could have it."""

    found: int
    of: int
    least: float
    words: str  # what `of` counts
    fewest: int = 1  # sessions of that kind

    @property
    def is_enough(self) -> bool:
        """Whether the pattern occurs in a large enough share of the sessions.

        The lower end of the share's confidence interval must reach the attribute `least`, and at least `fewest` sessions must have the
        pattern. If the pattern could occur in no session, the result is True.
        """
        return self.of == 0 or (self.found >= self.fewest and lower(self.found, self.of) >= self.least - 1e-9)

    @property
    def is_refuted(self) -> bool:
        """Whether the pattern certainly occurs in too small a share of sessions.

        The upper end of the share's confidence interval is below the attribute `least`. If a memory was made from the finding already, it
        was learnt too early.
        """
        return self.of > 0 and upper(self.found, self.of) < self.least


def lower(found: int, of: int) -> float:
    """Return the lower end of Wilson's score interval of the share found / of.

    `found` of `of` sessions have a pattern. The interval is one-sided, with a confidence of 90 %. Source: Wilson 1927.
    """
    return _wilson(found, of, -Z)


def upper(found: int, of: int) -> float:
    """Return the upper end of Wilson's score interval of the share found / of.

    `found` of `of` sessions have a pattern. The interval is one-sided, with a confidence of 90 %.
    """
    return _wilson(found, of, Z)


def _wilson(found: int, of: int, z: float) -> float:
    p, n = min(1.0, found / of), of
    return float((p + z * z / (2 * n) + z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5) / (1 + z * z / n))


def share(one: Finding, ledger: Ledger) -> Share | None:
    """Return the share of sessions in which a finding was made, or None.

    The table `RATES` says, for each signal (kind of finding), among which sessions to count. The result is None if the finding needs no
    minimum share. That is so if its signal is not in `RATES`, or if two agents made the finding independently.
    """
    rate = RATES.get(one.signal)
    if rate is None or one.quorum:
        return None
    if rate.of == MODULE:
        module = str(one.facts.get("module") or "")
        found, of = ledger.seen_in(one.key, module), ledger.sessions_of(module)
        return Share(found, of, rate.least, f"sessions of {module or 'the project'}", SIGNALS[one.signal].min_sessions)
    if rate.of == PAIR:
        return _pair(one, ledger, rate.least)
    path = str(one.facts.get(rate.fact) or "")
    edited = rate.of == EDITED
    words = f"sessions that {'edited' if edited else 'read'} {path}"
    return Share(ledger.counts_of([one.key])[one.key].sessions, ledger.file_sessions(path, edited=edited), rate.least, words)


def _pair(one: Finding, ledger: Ledger, least: float) -> Share:
    """Return the share of sessions that used both files of a pair.

    The share is taken among the sessions that used the more frequent file. If it is too small, the share among the sessions that used the
    rarer file may be returned instead. The lower end of that share's confidence interval must meet two conditions:

    * It is at least `least`.
    * It is at least LIFT times the usual share, in which the more frequent file is used near the rarer one; see `Ledger.file_share_where`.
    """
    a, b = str(one.facts["a"]), str(one.facts["b"])
    edited = one.memory_type == "causal_dependency"
    both = ledger.pair_sessions(a, b, edited=edited)
    of_a, of_b = ledger.file_sessions(a, edited=edited), ledger.file_sessions(b, edited=edited)
    rarer, commoner, name = (of_a, of_b, b) if of_a <= of_b else (of_b, of_a, a)
    mutual = Share(both, commoner, least, f"sessions that {'edited' if edited else 'used'} {name}")
    if mutual.is_enough or not rarer:
        return mutual
    base = ledger.file_share_where(name, beside=a if name == b else b, edited=edited)
    one_way = lower(both, rarer)
    if one_way >= least and base and one_way >= LIFT * base:
        return Share(both, rarer, least, f"sessions that {'edited' if edited else 'used'} {a if name == b else b}")
    return mutual


def leads(one: Finding, ledger: Ledger) -> str:
    """Return the file of a pair, `a` or `b`, that is rarely used alone.

    The finding `one` has the pair. For example, the result is `a` if most sessions with `a` also use `b`, but few sessions with `b` use
    `a`. The result is "" if both files are rarely used alone, or neither.
    """
    a, b = str(one.facts["a"]), str(one.facts["b"])
    edited = one.memory_type == "causal_dependency"
    both = ledger.pair_sessions(a, b, edited=edited)
    least = RATES["co_access"].least
    of_a, of_b = ledger.file_sessions(a, edited=edited), ledger.file_sessions(b, edited=edited)
    a_brings, b_brings = both >= least * of_a, both >= least * of_b
    return "" if a_brings == b_brings else a if a_brings else b
