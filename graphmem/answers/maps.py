"""Answers about what people changed on the map of the modules."""

from __future__ import annotations

from typing import Annotated

from graphmem.answers.marks import Doc, Size
from graphmem.answers.plain import answer


@answer
class MapEntry:
    """Name, colour, note and place that people gave one module on the map."""

    module: Annotated[str, Doc("name of the module in the index; empty if no module matches the entry any more")]
    name: Annotated[str, Doc("name that a person gave the module; empty if the module keeps its own name")]
    colour: Annotated[str, Doc("colour of the module as #rrggbb; empty to use the colour of the measure shown on the map")]
    group: Annotated[str, Doc("name of the group of modules that the module belongs to; empty if there is none")]
    note: str
    hidden: bool
    pinned: Annotated[
        list[float],
        Doc("position that a person gave the module on the map, in shares of the map's width and height; empty if nobody moved it"),
        Size(2),
    ]
    files: Annotated[list[str], Doc("files by which the module is recognized after its name changed"), Size(5)]


@answer
class MapEntries:
    """Names, notes and places that people gave to modules on the map."""

    entries: Annotated[list[MapEntry], Size(50)]
    path: Annotated[str, Doc("path, from the project's root, of the file that stores the names, notes and map positions of modules")]
    notes: Annotated[list[str], Doc("entries of that file for modules that no longer exist"), Size(5)]
