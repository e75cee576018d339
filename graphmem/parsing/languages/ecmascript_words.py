"""Reserved names that mark special JavaScript expressions, such as casts.

The parser stores a cast as a call of such a name. Source code cannot contain the reserved names, so they cannot be confused with names of a
program.
"""

from __future__ import annotations

from typing import Final

ANCHOR: Final = "@"
"""Prefix of the name by which an object literal refers to its functions.

The name is `@` and the first byte of the function.
"""

CAST: Final = "<as>"
"""Callee of a term `<as>(type, value)`: a cast."""

LOOKUP: Final = "<lookup>"
"""Callee of a term `<lookup>(type, key)`: the type of a member, `Type["key"]`."""

TYPE_ARGUMENTS: Final = "<>"
"""Keyword of a call for its type arguments: one type, or a tuple of several."""

FUNCTION: Final = "<function>"
"""Callee of a term `<function>(result, parameter, …)`: a function type."""

SIGNATURE: Final = "<signature>"
"""Member of an interface that can be called: its value is the function type of each call signature."""

PARAMETER: Final = "<parameter>"
"""Callee of a term `<parameter>(call, "argument", "parameter")`.

It is the value that this call passes to a parameter of its function argument.
"""

RETURNED: Final = "<returned>"
"""Callee of a term `<returned>(type, "parameter")`.

It is a parameter of a function that is returned where this type is declared.
"""

ATTRIBUTE: Final = "<attribute>"
"""Callee of a term `<attribute>(component, "name", "parameter")`.

It is the same for an attribute in JSX.
"""

TYPE_SLOT: Final = "type "
"""Prefix of a name that means a type, to distinguish it from a value."""
