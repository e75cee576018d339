"""Export documents about the code: views, a report, and the whole graph.

A view is an image or data for another tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from graphmem.answers.semantic import Document
from graphmem.errors import BadInputError
from graphmem.operations.arguments import one_of
from graphmem.reports import diagram
from graphmem.reports.diagram import Diagram, of_impact, of_modules
from graphmem.reports.exporting import export
from graphmem.reports.report import report
from graphmem.reports.svg import svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers import ImpactReport, Project
    from graphmem.project.explaining.semantic import SystemQuestions
    from graphmem.project.graph.graph_source import GraphSource
    from graphmem.store.base import GraphStore

VIEWS: Final = ("modules", "impact")
FORMATS: Final[dict[str, tuple[Callable[[Diagram], str], str, str]]] = {
    "svg": (svg, "image/svg+xml", "svg"),
    "mermaid": (diagram.mermaid, "text/vnd.mermaid", "mmd"),
    "dot": (diagram.dot, "text/vnd.graphviz", "dot"),
    "graphml": (diagram.graphml, "application/graphml+xml", "graphml"),
    "json": (diagram.as_json, "application/json", "json"),
}


@dataclass(eq=False, repr=False)
class Documents:
    """Exports documents about the code: views, a report, and the whole graph."""

    store: GraphStore
    graph: GraphSource
    project: Callable[[], Project]
    system: SystemQuestions
    impact: Callable[..., ImpactReport]

    def export(self) -> Iterator[dict[str, Any]]:
        self.graph.view()
        return export(self.store.tables(), self.store.framework_keys())

    def report(self) -> Document:
        project = self.project()
        return Document(report(project, self.system), "text/html", f"{project.name or 'project'}.html")

    def export_view(self, view: str = "modules", format: str = "svg", targets: Sequence[str] | None = None) -> Document:  # noqa: A002
        """Export a view as an image or in the format of another tool.

        Args:
            view: modules (the map), or impact (the targets, with their dependencies on the left and dependents on the right).
            format: svg, mermaid, dot, graphml or json.
            targets: names of the target symbols or files, such as `Cart.total`; for the view impact only.

        Raises:
            BadInputError: the view or format is unknown, or `targets` does not fit the view.
            SymbolNotFoundError, AmbiguousSymbolError: a target is unknown or ambiguous.
        """
        one_of("view", view, VIEWS)
        one_of("format", format, tuple(FORMATS))
        if (view == "impact") != bool(targets):
            says = (
                "the view 'impact' needs targets; name at least one target"
                if view == "impact"
                else "the view 'modules' takes no targets; leave them out"
            )
            raise BadInputError(says, argument="targets", value=list(targets or ()))
        if view == "impact":
            up, down = self.impact(list(targets or ())), self.impact(list(targets or ()), direction="dependencies")
            drawn = of_impact(up, down, "Impact of " + ", ".join(one.ref for one in up.targets))
        else:
            drawn = of_modules(self.system.modules(), f"Modules of {self.graph.project}")
        write, media_type, ending = FORMATS[format]
        return Document(write(drawn), media_type, f"{view}.{ending}")
