"""Why an edge is believed: every rule by name, with its confidence and one sentence for people."""

from __future__ import annotations

from typing import Final, NamedTuple


class Rule(NamedTuple):
    """A way a target is found."""

    confidence: float  # (0, 1]: share of its edges that are expected to be true
    sentence: str


RULES: Final[dict[str, Rule]] = {
    "definition": Rule(1.0, "It is written there."),
    "scope": Rule(0.95, "The name is defined in an enclosing scope of the same file."),
    "import": Rule(0.95, "The name is imported from the file that defines it."),
    "builtin": Rule(0.95, "The name is one of the language's own."),
    "self": Rule(0.9, "It is called on the object itself, and its class or a base defines it."),
    "super": Rule(0.95, "It is called on super(), and the next class in line defines it."),
    "receiver_type": Rule(0.9, "The receiver's type is declared, or it was just constructed."),
    "inferred_type": Rule(0.85, "The receiver's type follows from assignments, results and call sites."),
    "override": Rule(0.8, "A subclass of the receiver's class overrides it."),
    "function_value": Rule(0.9, "The function was passed, stored or returned, and this is where the value is called."),
    "wrapped": Rule(0.9, "A decorator put this wrapper in the place of the function; whoever names the function has edges to both."),
    "implicit": Rule(0.9, "The language calls it here: a property, an operator, iteration, with, or a raised class."),
    "fixture": Rule(0.9, "The test asks for this fixture by the name of a parameter."),
    "signal": Rule(0.8, "It is connected with the signal or event that is sent here."),
    "injected": Rule(0.9, "The framework calls it to have the value of a parameter."),
    "task": Rule(0.9, "A queue runs it: it is a task, and one of a task's own methods is called here."),
    "unique_name": Rule(0.7, "Only one definition in the project has this name, and it takes these arguments."),
    "ambiguous_name": Rule(0.25, "One of few definitions in the project that have this name; confidence is 0.5 shared among them."),
    "route": Rule(0.97, "It is handed over to answer a route."),
    "command": Rule(0.97, "It is handed over, or named by a configuration file, as what a command runs."),
    "event": Rule(0.97, "It is handed over to be called when something happens."),
    "export": Rule(0.97, "A configuration file names it as what others load."),
    "annotation": Rule(0.95, "The annotation names the type."),
    "base": Rule(0.95, "The class header names it."),
    "same_method": Rule(0.95, "A base class defines a method of the same name."),
    "module": Rule(0.95, "The import names this file."),
    "satisfies": Rule(0.9, "It has every method of the interface, with the same types."),
    "external": Rule(0.9, "The import leads out of the project."),
    "scip": Rule(1.0, "An indexer that checks types says so."),
    "runtime": Rule(1.0, "It happened while the tests ran."),
    "runtime_before": Rule(0.9, "It happened while the test ran, before the test itself was changed."),
    "coverage": Rule(1.0, "The test ran lines of it, as coverage was measured."),
}
"""Keys are the `rule` of edges. Order is the order of the documentation.

Confidences are the shares measured by `benchmarks/calibration.py`, rounded; docs/resolution.md has the table.
"""

REASONS: Final[dict[str, str]] = {
    "no_receiver_type": "nothing tells what type the receiver has, and no name alone decides",
    "too_many_candidates": "more definitions of this name than can be told apart",
    "no_such_member": "the receiver's type is known, but has nothing of this name",
    "dynamic": "the name or the function is computed when the program runs",
    "unknown_name": "no scope, import or builtin gives this name a meaning",
}
"""Keys are the `reason` of unresolved call sites."""

AMBIGUOUS_LIMIT: Final = 5
"""With more definitions of one name than this, none is chosen."""
