"""Find files that are not part of the product, such as examples.

Generated code, documentation and developers' scripts are not part of the product, either. The graph contains such files like all other
code. But lists that tell a newcomer where to begin show these files last.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from graphmem.analysis.semantic.source_sets import holds_resources, package_begins
from graphmem.runtime.data.conventions import all_conventions

if TYPE_CHECKING:
    from graphmem.projection.graph.view import GraphView

_DOCUMENTATION: Final = ("doc", "docs", "documentation", "website", "misc", "etc", "contrib")
_TOOLING: Final = ("dev", "script", "scripts", "tool", "tools", "build", "ci", "release", "releases", "hack")
_EXAMPLES: Final = {"example", "examples", "sample", "samples", "demo", "demos", "playground", "playgrounds", "sandbox"}
_MEASURES: Final = {"bench", "benches", "benchmark", "benchmarks"}
AT_ROOT: Final = frozenset((*_DOCUMENTATION, *_TOOLING))


def is_beside(path: str) -> bool:
    """Whether folders or name show that a file is not part of the product.

    The folders `tools`, `build` and `docs` are considered only at the root, because a package may have a subfolder of this name. For the
    same reason, folders such as `samples` are ignored where they are parts of a Java package. Files below `src/main/resources` are data
    of a program, such as templates of other projects.
    """
    if holds_resources(path):
        return True
    begin = package_begins(path)
    if begin is not None and made_folders().isdisjoint(path[begin:].lower().split("/")):
        path = path[:begin] + path.rpartition("/")[2]
    *folders, name = path.lower().split("/")
    named = bool(folders) and (folders[0] in AT_ROOT or folders[0].startswith(".") or not _anywhere().isdisjoint(folders))
    return named or is_made(name)


def is_made(name: str) -> bool:
    """Whether a file's name shows that a program made it, as `app.min.js`."""
    return _made_files().match(name) is not None


def generated_folders() -> frozenset[str]:
    """Return names of folders whose files a program wrote."""
    known = all_conventions()
    return known.generated_folders | known.snapshot_folders


@cache
def made_folders() -> frozenset[str]:
    """Return names of folders of code that nobody edits function by function.

    Their code is generated, vendored, a migration or data of tests.
    """
    known = all_conventions()
    return generated_folders() | known.vendored_folders | known.migration_folders | known.fixture_folders


@cache
def _anywhere() -> frozenset[str]:
    return (made_folders() - AT_ROOT) | _EXAMPLES | _MEASURES


@cache
def _made_files() -> re.Pattern[str]:
    return re.compile("|".join(map(translate, all_conventions().generated_files)))


def beside(view: GraphView) -> npt.NDArray[np.bool_]:
    """Whether each node is in a file that is not part of the product.

    Examples are scripts and generated code. The result has the shape (n,).
    """
    of_path = np.array([*(is_beside(path) for path in view.paths), False], np.bool_)  # the last one is for code without a file, path -1
    found: npt.NDArray[np.bool_] = of_path[view.path_index]
    return found
