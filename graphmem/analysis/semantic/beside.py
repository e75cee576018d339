"""Find files that are not part of the product, such as examples.

Generated code, documentation and developers' scripts are not part of the product, either. The graph contains such files like all other
code. But lists that tell a newcomer where to begin show these files last.
"""

from __future__ import annotations

import re
from fnmatch import translate
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from graphmem.projection.graph import GraphView

# Folders of code that people neither write nor delete function by function; hidden folders are added.
TOOLS: Final = ("generated", "__generated__", "_generated", "gen", "dist", "build", "snapshots", "__snapshots__")
_OTHERS: Final = ("vendor", "vendored", "third_party", "node_modules", "pdfjs")
FOLDERS: Final = frozenset(("migrations", "migrate", "alembic", "fixtures", "testdata", *TOOLS, *_OTHERS))
FILES: Final = ("mvnw", "gradlew", "*_pb2.py", "*_pb2_grpc.py", "*.min.js", "*.min.mjs", "*.bundle.js", "*.generated.*", "*.gen.*")
_MADE: Final = re.compile("|".join(map(translate, FILES)))
_DOCUMENTATION: Final = ("doc", "docs", "documentation", "website", "misc", "etc", "contrib")
_TOOLING: Final = ("script", "scripts", "tool", "tools", "build", "ci", "release", "releases", "hack")
_EXAMPLES: Final = ("example", "examples", "sample", "samples", "demo", "demos", "playground", "playgrounds", "sandbox")
_MEASURES: Final = ("bench", "benches", "benchmark", "benchmarks")
AT_ROOT: Final = frozenset((*_DOCUMENTATION, *_TOOLING))
ANYWHERE: Final = (FOLDERS - AT_ROOT) | {*_EXAMPLES, *_MEASURES}
_PACKAGES: Final = re.compile(r"(?:^|/)src/main/(?:java|kotlin|scala|groovy)/(.*)")
"""Folders whose names are parts of a package's name, such as `org/springframework/samples`."""


def is_beside(path: str) -> bool:
    """Whether folders or name show that a file is not part of the product.

    The folders `tools`, `build` and `docs` count only at the root, because a package may have a subfolder of this name. For the same
    reason, folders such as `samples` do not count where they are parts of a Java package.
    """
    packages = _PACKAGES.search(path.lower())
    if packages is not None and FOLDERS.isdisjoint(packages[1].split("/")):
        path = path[: packages.start(1)] + path.rpartition("/")[2]
    *folders, name = path.lower().split("/")
    named = bool(folders) and (folders[0] in AT_ROOT or folders[0].startswith(".") or not ANYWHERE.isdisjoint(folders))
    return named or is_made(name)


def is_made(name: str) -> bool:
    """Whether a file's name shows that a program made it, as `app.min.js`."""
    return _MADE.match(name) is not None


def beside(view: GraphView) -> npt.NDArray[np.bool_]:
    """Whether each node is in a file that is not part of the product.

    Examples are scripts and generated code. The result has the shape (n,).
    """
    of_path = np.array([*(is_beside(path) for path in view.paths), False], np.bool_)  # the last one is for code without a file, path -1
    found: npt.NDArray[np.bool_] = of_path[view.path_index]
    return found
