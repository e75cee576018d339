"""The seventeen signals: kinds of patterns in an agent's session.

For example, an error that was fixed is a signal. For each signal, one table has its weight and the types of memories that are made from it.
The table also has the number of sessions in which the signal must occur before a memory is made. A class in `detect_files`, `detect_tools`
or `detect_words` detects each signal.
"""

from __future__ import annotations

from typing import Final, NamedTuple

DROPPED_BELOW: Final = 0.4
EARLY_GREP: Final = 3  # searches for one pattern
EARLY_ERRORS: Final = 2  # distinct errors
EARLY_EDITS: Final = 2  # next to a config file


class Signal(NamedTuple):
    """A kind of pattern in a session, such as an error that was fixed."""

    number: int  # number in the specification, 5.3
    name: str
    diagnostic: float  # how much it says about the work, 0 to 1
    cross_session: float  # how likely it matters in another session, 0 to 1
    false_positives: float  # share of findings without meaning
    becomes: tuple[str, ...]  # types of memory, the usual one first
    min_sessions: int  # sessions with the same finding before it is learnt
    early: float | None  # priority of early promotion within a session; None: no early promotion
    fires_when: str

    @property
    def value(self) -> float:
        """Return the signal's value, computed from its three ratings.

        The formula is 0.5 × `diagnostic` + 0.3 × `cross_session` + 0.2 × (1 - `false_positives`); source: specification, 5.3.
        """
        return round(0.5 * self.diagnostic + 0.3 * self.cross_session + 0.2 * (1 - self.false_positives), 4)


SIGNALS: Final[dict[str, Signal]] = {
    row.name: row
    for row in (
        Signal(1, "file_access", 0.65, 0.85, 0.3, ("prefetch_pattern",), 3, None, "files are opened early in most sessions of a module"),
        Signal(
            2,
            "co_access",
            0.9,
            0.95,
            0.125,
            ("causal_dependency", "prefetch_pattern"),
            3,
            None,
            "two files are read or edited in the same window in several sessions",
        ),
        Signal(3, "error_retry", 0.9, 0.8, 0.2, ("error_pattern", "gotcha"), 2, 0.75, "an error, then a change, then the same succeeds"),
        Signal(4, "backtrack", 0.7, 0.6, 0.25, ("gotcha",), 2, None, "an edit is undone soon after"),
        Signal(5, "read_abandon", 0.8, 0.8, 0.25, ("gotcha",), 3, None, "a file is read and never used again"),
        Signal(6, "repeated_grep", 0.8, 0.7, 0.25, ("module_insight", "gotcha"), 2, 0.8, "the same is searched for three or more times"),
        Signal(7, "tool_sequence", 0.7, 0.8, 0.3, ("workflow_recipe",), 3, None, "the same run of tools recurs, and succeeds"),
        Signal(8, "time_anomaly", 0.4, 0.5, 0.35, ("gotcha",), 3, None, "a step is much slower than its kind, near another signal"),
        Signal(9, "self_correction", 0.95, 0.8, 0.175, ("gotcha", "module_insight"), 1, 0.9, "the agent corrects its own belief"),
        Signal(10, "external_reference", 0.55, 0.65, 0.3, ("module_insight",), 3, None, "the same document is consulted for a module"),
        Signal(11, "glob_ignore", 0.6, 0.7, 0.35, ("gotcha",), 2, None, "files of a folder are listed repeatedly and never opened"),
        Signal(12, "import_chase", 0.45, 0.55, 0.35, ("causal_dependency",), 4, None, "imports are followed file by file to an answer"),
        Signal(13, "test_order", 0.7, 0.8, 0.25, ("task_calibration",), 3, None, "tests always run in one order, or before an edit"),
        Signal(14, "config_touch", 0.6, 0.7, 0.25, ("causal_dependency",), 2, 0.7, "a config file is edited with two or more sources"),
        Signal(15, "step_overrun", 0.7, 0.7, 0.25, ("task_calibration",), 3, None, "a unit of work takes far more steps than planned"),
        Signal(16, "parallel_conflict", 0.9, 0.7, 0.2, ("gotcha",), 1, None, "two agents edit one file in overlapping time"),
        Signal(17, "context_token_spike", 0.6, 0.65, 0.325, ("context_cost",), 3, None, "a read costs far above the session's norm"),
    )
}
# Not among the seventeen signals: a person's words. A request is certain; a correction waits for review.
REMEMBER: Final = Signal(0, "remember", 1.0, 1.0, 0.0, ("correction", "fact"), 1, None, "a person asks for something to be remembered")
CORRECTED: Final = Signal(0, "corrected", 0.95, 0.8, 0.175, ("correction",), 1, 0.9, "a person corrects the agent")
# Events that are knowledge by themselves.
BROWSER: Final = Signal(
    0, "browser", 0.9, 0.8, 0.2, ("e2e_observation",), 1, 0.85, "a browser or a test in it reports how the interface behaves"
)
STATED: Final = Signal(
    0, "stated", 0.9, 0.8, 0.2, ("decision", "pattern", "requirement"), 1, 0.85, "words say what was decided, is usual, or is required"
)
UNIT_DONE: Final = Signal(0, "unit_done", 0.9, 0.8, 0.1, ("work_unit_outcome",), 1, 0.85, "a unit of work ends with an outcome")
QA_FAILED: Final = Signal(0, "qa_failed", 0.9, 0.8, 0.2, ("error_pattern",), 1, 0.85, "a check still fails when a session of checking ends")
LEFT_OPEN: Final = Signal(0, "left_open", 0.9, 0.7, 0.2, ("work_state",), 1, 0.85, "a session ends with unfinished work")
EVENTS: Final = (REMEMBER, CORRECTED, BROWSER, STATED, UNIT_DONE, QA_FAILED, LEFT_OPEN)
# From the least to the most valuable: the order in which evidence is dropped if a session has too much of it.
BY_VALUE: Final = tuple(sorted(SIGNALS, key=lambda name: (SIGNALS[name].value, name)))


def row_of(name: str) -> Signal:
    """Return the table's row of a signal (kind of finding), by name.

    Raises:
        KeyError: unknown name.
    """
    return next((one for one in EVENTS if one.name == name), None) or SIGNALS[name]
