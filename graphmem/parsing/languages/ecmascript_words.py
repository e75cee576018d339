"""Names no source can hold, under which terms of JavaScript and TypeScript say what other languages do not."""

from __future__ import annotations

from typing import Final

ANCHOR: Final = "@"
"""First character of the name under which an object literal refers to a function written in it: `@` and its first byte."""

CAST: Final = "<as>"
"""Callee of a term `<as>(type, value)`: a value that is said to be of a type."""

LOOKUP: Final = "<lookup>"
"""Callee of a term `<lookup>(type, key)`: the type of a member, `Type["key"]`."""

TYPE_ARGUMENTS: Final = "<>"
"""Keyword under which a call keeps what stands in angle brackets: one type, or a tuple of several."""

FUNCTION: Final = "<function>"
"""Callee of a term `<function>(result, parameter, …)`: a function type."""

PARAMETER: Final = "<parameter>"
"""Callee of a term `<parameter>(call, "argument", "parameter")`: what the function that is this argument of a call is given."""

ATTRIBUTE: Final = "<attribute>"
"""Callee of a term `<attribute>(component, "name", "parameter")`: the same for an attribute in JSX."""

TYPE_SLOT: Final = "type "
"""What stands in front of the name of what is a type and no value, so that a value of the same name is told apart."""
