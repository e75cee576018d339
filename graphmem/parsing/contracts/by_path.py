"""Find routes that are defined by the path of a file, as in Next.js."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from graphmem.parsing.contracts import paths
from graphmem.parsing.contracts.end import OFFERS, VERBS, End
from graphmem.parsing.contracts.habits import has_habit
from graphmem.parsing.facts import FileFacts

_PLACE: Final = re.compile(r"/pages/api/(?P<api>.*)\.[jt]sx?$|/(?:app|routes)(?P<app>(?:/[^/]+)*)/(?:route|\+server)\.[jt]sx?$")


def by_path(facts: FileFacts) -> Iterator[End]:
    """Yield an `End` for each route defined by a file's path.

    In Next.js, `pages/api/users.ts` offers `/api/users`.
    """
    match = _PLACE.search("/" + facts.path)
    if match is None or not has_habit(facts.language, "routes_by_path"):
        return
    path = paths.route_path("/" + re.sub(r"/?\([^)]*\)", "", match["api"] or match["app"] or ""))
    if match["api"] is not None:
        path = paths.joined("api", path.removesuffix("/index"))
        named = [
            position
            for position, one in enumerate(facts.definitions)
            if one.kind in ("function", "variable") and "default" in one.modifiers
        ]
        handlers = [one for one in facts.definitions if one.name == "handler"]
        scope = named[0] if named else facts.definitions.index(handlers[0]) if handlers else 0
        yield End(OFFERS, "http", f"* {path}", scope, facts.definitions[scope].name_line, "", "", "next")
        return
    for position, definition in enumerate(facts.definitions):
        if definition.name in VERBS and definition.parent == 0:
            yield End(OFFERS, "http", f"{definition.name} {path}", position, definition.name_line, "", "", "next, sveltekit")
