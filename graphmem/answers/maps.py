"""Answers about what people changed on the map of the modules."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer


@answer
class MapEntry:
    """What people changed about one module on the map."""

    module: Annotated[str, Doc("name of the module in the index; empty if none matches any more")]
    name: Annotated[str, Doc("name given by a person; empty for the module's own")]
    colour: Annotated[str, Doc("#rrggbb; empty for the colour of the heat")]
    group: Annotated[str, Doc("name of a group of modules; empty for none")]
    note: str
    hidden: bool
    pinned: Annotated[list[float], Doc("share of the map's width and height at which the module is fixed; empty for none"), Size(2)]
    files: Annotated[list[str], Doc("files that identify the module when its name changes"), Size(5)]


@answer
class MapEntries:
    """Names, notes and places that people gave modules on the map, by module."""

    entries: Annotated[list[MapEntry], Size(50)]
    path: Annotated[str, Doc("file that keeps them, from the project's root")]
    notes: Annotated[list[str], Doc("entries that match no module"), Size(5)]
