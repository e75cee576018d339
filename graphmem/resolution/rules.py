"""Rules that find the target of an edge: name, confidence, description."""

from __future__ import annotations

from typing import Final, NamedTuple

from graphmem.model import LIBRARY_HOOK


class Rule(NamedTuple):
    """The sentence and the confidence of a rule that finds targets of edges."""

    confidence: float  # (0, 1]: expected share of true edges
    sentence: str


RULES: Final[dict[str, Rule]] = {
    "definition": Rule(1.0, "The source defines it there."),
    "scope": Rule(0.95, "The name is defined in an enclosing scope of the same file."),
    "import": Rule(0.95, "The name is imported from the file that defines it."),
    "builtin": Rule(0.95, "The name is one of the language's own."),
    "self": Rule(0.95, "It is called on the object itself, and its class or a base defines it."),
    "super": Rule(0.95, "It is called on super(), and the next class in line defines it."),
    "receiver_type": Rule(0.95, "The receiver's type is declared, or it was just constructed."),
    "inferred_type": Rule(0.88, "The receiver's type follows from assignments, results and call sites."),
    "override": Rule(0.65, "A subclass of the receiver's class overrides it."),
    "function_value": Rule(0.75, "The function was passed, stored or returned, and this is where the value is called."),
    "computed_name": Rule(0.7, "The method's name is computed, and begins like this one's."),
    "wrapped": Rule(0.7, "A decorator replaces the function with this wrapper; code that names the function has edges to both."),
    "implicit": Rule(0.93, "The language calls it here: a property, an operator, iteration, with, or a raised class."),
    "fixture": Rule(0.9, "The test framework runs this fixture or set-up method for the test."),
    "named_test": Rule(0.95, "The test calls it, and its name begins with the name of this code."),
    "signal": Rule(0.8, "It is connected to the signal or event that is sent here."),
    "request": Rule(0.8, "A test requests a path, which the route of this handler matches."),
    "injected": Rule(0.9, "The framework calls it for the value of a parameter."),
    "task": Rule(0.9, "A queue runs it: it is a task, and one of a task's own methods is called here."),
    LIBRARY_HOOK: Rule(0.95, "A library's base class calls it on objects of the class."),
    "endpoint": Rule(0.9, "The address that the client asks is the route of this handler."),
    "rpc": Rule(0.9, "The remote procedure that is called here is implemented there."),
    "program": Rule(0.9, "It starts the program that begins there."),
    "topic": Rule(0.85, "It receives what is sent to the topic or queue of this name."),
    "unique_name": Rule(0.7, "Only one definition in the project has this name, and it takes these arguments."),
    "ambiguous_name": Rule(0.25, "One of few definitions in the project that have this name; confidence is 0.5 shared among them."),
    "route": Rule(0.97, "It is registered as the handler of a route."),
    "command": Rule(0.97, "A call or a configuration file registers it as a command."),
    "event": Rule(0.97, "It is registered as the handler of an event."),
    "export": Rule(0.97, "A configuration file names it for others to load."),
    "annotation": Rule(0.95, "The annotation names the type."),
    "base": Rule(0.95, "The class header names it."),
    "same_method": Rule(0.95, "A base class defines a method of the same name."),
    "module": Rule(0.95, "The import names this file."),
    "satisfies": Rule(0.9, "It has every member of the interface, and its methods take the same arguments."),
    "external": Rule(0.9, "The import leads outside the project."),
    "scip": Rule(1.0, "An indexer that checks types reports it."),
    "runtime": Rule(1.0, "A run of the tests recorded it."),
    "runtime_before": Rule(0.9, "A run of the test recorded it, before the test itself changed."),
    "coverage": Rule(1.0, "A coverage measurement shows that the test ran lines of it."),
}
"""Rules by the `rule` of edges, in the order of the documentation.

Confidences are the shares measured by `benchmarks/calibration.py`, rounded; docs/resolution.md has the table.
"""

REASONS: Final[dict[str, str]] = {
    "no_receiver_type": "the type of the receiver is unknown, and its name alone does not decide",
    "too_many_candidates": "too many definitions of this name to choose from",
    "no_such_member": "the receiver's type is known, but has no member of this name",
    "dynamic": "the name or the function is computed at runtime",
    "unknown_name": "no scope, import or builtin defines this name",
}
"""Keys are the `reason` of unresolved call sites."""

AMBIGUOUS_LIMIT: Final = 5
"""Most definitions of one name among which a target is chosen."""
