"""Read the usings of a project from its MSBuild file.

A using imports a namespace into all files of the project. Conditions and variables of MSBuild are not evaluated.
"""

from __future__ import annotations

import re
from typing import Final


def read_msbuild(text: str) -> dict[str, object]:
    """Return the facts about usings in a `.csproj` or a `.props` file.

    The keys are `sdk`, `implicit` (the value of `<ImplicitUsings>`, "" if it is missing), and `usings` and `removed`: lists of
    `[name, alias]`.
    """
    first, *rest = text.split("<!--")
    text = first + "".join(part.partition("-->")[2] for part in rest)
    sdk, implicit = _SDK.search(text), _IMPLICIT.findall(text)
    tags = [dict(_ATTRIBUTE.findall(tag)) for tag in _USING.findall(text)]
    return {
        "sdk": sdk[1] if sdk else "",
        "implicit": implicit[-1].lower() if implicit else "",
        "usings": [[name, tag.get("Alias", "").strip()] for tag in tags for name in _names(tag.get("Include", ""))],
        "removed": [[name, ""] for tag in tags for name in _names(tag.get("Remove", ""))],
    }


def _names(value: str) -> list[str]:
    """Return the qualified names in a string, which semicolons divide."""
    return [name for part in value.split(";") if _QUALIFIED.fullmatch(name := part.strip())]


_SDK: Final = re.compile(r"""<Project\s[^<>]*?\bSdk=["']([\w.]{1,200})""")
_IMPLICIT: Final = re.compile(r"<ImplicitUsings>\s{0,100}(\w{1,20})")
_USING: Final = re.compile(r"<Using\s([^<>]{1,2000})>")
_ATTRIBUTE: Final = re.compile(r"""\b(Include|Remove|Alias)=["']([^"']*)["']""")
_QUALIFIED: Final = re.compile(r"[\w.]+")
