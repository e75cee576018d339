"""Directory of an open branch: texts of its files, and its contracts.

Contracts are, for example, routes with their clients. Files in which the branch equals the main branch are hard links.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.contracts import rows as contracts
from graphmem.contracts.rows import ContractRow
from graphmem.parsing.discovery import content_hash
from graphmem.project.hosted.branches import GONE, Branch, Branches
from graphmem.project.hosted.pushed_rows import text_in
from graphmem.project.hosted.pushed_texts import encoded, free_place, remove
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.network.pushes import PUSHED_FILE, address_of

if TYPE_CHECKING:
    from graphmem.store.base import GraphStore

FOLDER: Final = "branches"  # in the index directory: files of the branches that are open
INDEX: Final = ".graphmem"


@dataclass(frozen=True, eq=False)
class BranchTrees:
    """The directories of a project's open branches.

    Attributes:
        data_dir: the index directory of the project.
        branches: the stored branches.
        store: the store of the main branch.
    """

    data_dir: Path
    branches: Branches
    store: GraphStore

    def create(self, branch: Branch, own: Mapping[str, str]) -> Path:
        """Create and return the directory for opening a branch.

        `own` maps each path that differs from the main branch to a digest (hash) of the file's rows.
        """
        root = self.data_dir / FOLDER / f"{address_of('', branch.key.name).strip('@')[:80]}-{uuid.uuid4().hex[:12]}"
        (root / INDEX).mkdir(parents=True, mode=0o700)
        self.write(root, branch, own, {*self.store.file_hashes(), *own})
        return root

    def write(self, root: Path, branch: Branch, own: Mapping[str, str], paths: Iterable[str]) -> None:
        """Write files of a branch, and its contracts, to its directory.

        Contracts are, for example, routes with their clients.

        Args:
            root: directory of the branch.
            branch: the branch.
            own: the digest (hash of the rows) of each file that differs from the main branch.
            paths: the files to write.
        """
        replace_file(root / PUSHED_FILE, b"{}")  # marks the directory of a pushed project
        for path in sorted(set(paths)):
            self._write_text(root, path, own.get(path))
        meta = branch.facts["meta"]
        rows = {path: [ContractRow._make(row) for row in some] for path, some in branch.facts["contracts"].items()}
        contracts.write(root / INDEX, meta["run"], meta["project"], rows)

    def main_text(self, path: str, wanted: str) -> str | None:
        """Return the text of a file on the main branch; None if not sent.

        `wanted` is the content hash in the graph. After a push without the file's text, an earlier text may be there.
        """
        try:
            data = (self.data_dir.parent / path).read_bytes()
        except OSError:
            return None
        return data.decode("utf-8", "surrogateescape") if content_hash(data) == wanted else None

    def _write_text(self, root: Path, path: str, digest: str | None) -> None:
        remove(root, path)
        main = self.data_dir.parent / path
        if digest == GONE:
            return
        if digest is None:
            if main.is_file():  # otherwise only the branch had the file, or its text was never sent
                os.link(main, free_place(root, path))
        elif (text := text_in(self.branches.bodies([digest])[digest])) is not None:
            replace_file(free_place(root, path), encoded(text))
