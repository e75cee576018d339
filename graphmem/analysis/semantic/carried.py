"""Apply the modules of a newer state of a project to an older state.

Two states can be compared only by one division into modules. Two divisions, each derived from its own state, also differ where no code
changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from graphmem.analysis.semantic.files import common_folder
from graphmem.analysis.semantic.naming import Named
from graphmem.model import stable_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from graphmem.analysis.semantic.modules import Modules
    from graphmem.projection.graph.view import GraphView

SAME_CODE: Final = 0.5  # least share of a file's definitions that a file must have to be the same file under another name


def carried(newer: Modules, older: GraphView, code: Sequence[str]) -> list[Named]:
    """Divide the files of an older state into the modules of a newer one.

    A file is in the module of the file with its path. A file that the newer state lacks is in the module of the file with most of its
    definitions. Otherwise it is in the module that has most of its folder. Files of a folder that no longer exists form a module that is
    named after it.

    Args:
        newer: the modules of the newer state.
        older: the graph of the older state.
        code: paths of its files that belong to modules.
    """
    home = {path: i for i, group in enumerate(newer.groups) for path in group.paths}
    folders: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for path, i in home.items():
        folders[path.rpartition("/")[0]][i] += 1
    here = set(code)
    renamed = _renamed(older, [path for path in code if path not in home], newer.view, [path for path in home if path not in here])
    members: defaultdict[int, list[str]] = defaultdict(list)
    gone: defaultdict[str, list[str]] = defaultdict(list)
    for path in code:
        known, folder = renamed.get(path, path), path.rpartition("/")[0]
        if known in home:
            members[home[known]].append(path)
        elif folder in folders:
            members[folders[folder].most_common(1)[0][0]].append(path)
        else:
            gone[_vanished(folder, folders)].append(path)
    kept = [Named(newer.groups[i].id, newer.groups[i].name, common_folder(paths), paths) for i, paths in sorted(members.items())]
    names = {one.name for one in newer.groups}
    ends = {folder: f"{folder} (removed)" if folder in names else folder for folder in sorted(gone)}
    return kept + [Named(stable_id("module", "removed", folder), name, folder, gone[folder]) for folder, name in ends.items()]


def _vanished(folder: str, folders: Iterable[str]) -> str:
    """Return the outermost removed folder that contains a given folder.

    `folders` are the folders that still exist. The result may be `folder` itself.
    """
    present = {above for one in folders for above in _above(one)}
    return next(one for one in reversed(list(_above(folder))) if one not in present)


def _above(folder: str) -> list[str]:
    """Return a folder and the folders around it, the innermost first."""
    parts = folder.split("/")
    return ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]


def _renamed(older: GraphView, left: Sequence[str], newer: GraphView, came: Sequence[str]) -> Mapping[str, str]:
    """Map removed files to new files that have most of the same definitions.

    Args:
        older: the graph with the removed files.
        left: paths of the removed files.
        newer: the graph with the new files.
        came: paths of the new files.
    """
    holder: dict[str, str] = {}
    for path in came:
        for one in _bodies(newer, path):
            holder.setdefault(one, path)
    found = {}
    for path in left:
        bodies = _bodies(older, path)
        votes = Counter(holder[one] for one in bodies if one in holder)
        if votes and votes.most_common(1)[0][1] >= SAME_CODE * len(bodies):
            found[path] = votes.most_common(1)[0][0]
    return found


def _bodies(view: GraphView, path: str) -> set[str]:
    """Return the hashes of the bodies of a file's definitions."""
    return {view.body_hash(node) for node in view.by_path(path).tolist() if view.parent[node] >= 0} - {""}
