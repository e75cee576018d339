"""Rules that resolve names in Jinja templates to definitions.

A name is a macro, or a function that Python code registers for templates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.parsing.facts import CALL
from graphmem.resolution.framework_tables.frameworks import TEMPLATE
from graphmem.resolution.scoped.rules import ScopedRules
from graphmem.resolution.values.terms import call_at
from graphmem.resolution.values.types import FUNC, Type, join_all, one

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphmem.resolution.files.call_index import CallSite
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference


class JinjaRules(ScopedRules):
    """Rules that resolve names in Jinja templates to definitions.

    A name is a macro, a filter or a global function. Macros may be imported from other templates.
    """

    links_routes = True

    def unbound(self, inference: Inference, entry: FileEntry, scope: int, name: str) -> Type:
        """Return the function that a name in a template calls.

        Python code registers the function under `name`, for example by `@app.template_filter("name")`. Without such a function, the result
        is the type of the built-in filter or function of Jinja.
        """
        sites, _ = inference.project.call_sites(f"{TEMPLATE}{name}")
        found = [value for site in sites for value in _registered(inference, site, name)]
        return join_all(found) or super().unbound(inference, entry, scope, name)


def _registered(inference: Inference, site: CallSite, name: str) -> Iterator[Type]:
    """Yield the types of functions registered for templates under a name.

    `site` is the code that registers the functions: a decorator, a call such as `app.add_template_filter(f, "x")`, or an assignment.
    """
    entry = inference.project.files[site.path]
    inference.project.touch("passed", site.path, entry.definitions[site.scope].qualname, f"{TEMPLATE}{name}")
    if site.decorated >= 0:
        yield one((FUNC, entry.symbols[site.decorated], None))
    elif entry.terms[site.term][0] == CALL:
        _, _, positional, named = call_at(entry.terms, site.term)
        for value in entry.frameworks.registered(entry.terms, positional, named).get(name, ()):
            yield inference.expanded(inference.term(entry, site.scope, value, site.line))
    else:
        for binding in entry.facts.bindings:
            if (binding.target, binding.scope, binding.line) == (site.term, site.scope, site.line):
                yield inference.expanded(inference.term(entry, site.scope, binding.value, site.line))


RULES = JinjaRules
