"""Scores for how well an argument fits a parameter.

A call is resolved to the function with the highest total score. The rules of a language may also give scores between the constants of this
module.
"""

from __future__ import annotations

from typing import Final

EXACT: Final = 400
"""Points of an argument that has the declared type of its parameter."""

ANY: Final = 300
"""Points of an argument for a parameter whose type is a type parameter."""

DERIVED: Final = 200
"""Most points of an argument whose class derives from the declared class, or of a container with other elements.

The nearer of two base classes gets more points.
"""

CONVERTED: Final = 100
"""Points of an argument that the language converts."""

IMPOSSIBLE: Final = -1
