"""Check the code against the project's own architecture rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graphmem.analysis.semantic.boundaries import baseline_line, baseline_lines, check, parse
from graphmem.analysis.semantic.files import FileGraph
from graphmem.answers.boundaries import ArchitectureCheck, BrokenRule, RuleResult
from graphmem.errors import BadInputError
from graphmem.operations.arguments import page
from graphmem.project.structure.derived import packages_of

if TYPE_CHECKING:
    from graphmem.analysis.semantic.boundaries import Breach
    from graphmem.project.graph.graph_source import GraphSource

RULES: Final = ".graphmem/architecture.toml"  # from the root; people commit it
BASELINE: Final = ".graphmem/architecture-baseline.txt"
SITES: Final = 3  # edges shown for each broken rule
MOST_BYTES: Final = 1_000_000  # of a file of rules


@dataclass(eq=False, repr=False)
class Boundaries:
    """Checks the dependencies of the code against rules in the repository."""

    graph: GraphSource

    def check_architecture(self, rules: str | None = None, limit: int = 1000) -> ArchitectureCheck:
        """Check the dependencies of the code against the project's own rules.

        See `SemanticOperations.check_architecture`.

        Raises:
            BadInputError: the file with the rules is missing, or a rule is invalid.
        """
        page(limit)
        view = self.graph.view()
        text = rules if rules is not None else self._text(RULES)
        if text is None:
            raise BadInputError(
                f"the file of boundary rules {RULES} does not exist; create it with a table [[rule]] that has `from` and `may_not_use` "
                "(docs/semantic.md shows examples)",
                argument="rules",
                path=RULES,
                reason="no_rules",
            )
        files = FileGraph(view, packages_of(view.languages).of_names)
        checked = [check(files, one) for one in parse(text, RULES if rules is None else "the given text")]
        accepted = set(baseline_lines(self._text(BASELINE) or ""))
        found = [one for outcome in checked for one in outcome.breaches]
        lines = {baseline_line(one) for one in found}
        new = sum(baseline_line(one) not in accepted for one in found)

        def broken(one: Breach) -> BrokenRule:
            line = baseline_line(one)
            sites = files.steps(one.rows, SITES)
            return BrokenRule(one.rule.name, one.rule.because, one.src, one.dst, len(one.rows), sites, line in accepted)

        found.sort(key=lambda one: baseline_line(one) in accepted)  # stable: rules and paths keep their order
        return ArchitectureCheck(
            rules=[
                RuleResult(
                    one.rule.name,
                    one.rule.because,
                    one.files,
                    one.links,
                    len(one.breaches),
                    sum(baseline_line(breach) in accepted for breach in one.breaches),
                )
                for one in checked
            ],
            broken=[broken(one) for one in found[:limit]],
            total=len(found),
            new=new,
            resolved=sorted(accepted - lines) if rules is None else [],
            notes=[f"rule {one.rule.name}: the pattern {pattern} matches no file" for one in checked for pattern in one.unmatched],
            state=self.graph.state(),
        )

    def _text(self, name: str) -> str | None:
        """Return the text of a file in the repository; None if it does not exist."""
        path = self.graph.root() / name
        try:
            with path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
            if len(data) > MOST_BYTES:
                raise BadInputError(
                    f"the boundary rules {name} have more than {MOST_BYTES:,} bytes; shorten the file", argument="rules", path=name
                )
            return data.decode("utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise BadInputError(
                f"the boundary rules {name} cannot be read ({error}); correct the file", argument="rules", path=name
            ) from error
