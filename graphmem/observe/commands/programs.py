"""Programs on command lines, from the table `grammars/programs.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from graphmem.runtime.data.tables import read_table


@dataclass(frozen=True, slots=True)
class Programs:
    """Programs on command lines, and whether their output is local text.

    Local text comes from the project or the machine. The content is that of `grammars/programs.toml`, whose comments explain each key.
    """

    readers: frozenset[str]
    listers: frozenset[str]
    carriers: frozenset[str]
    testers: frozenset[str]
    file_programs: frozenset[str]
    shell_programs: frozenset[str]
    build_programs: frozenset[str]
    test_programs: frozenset[str]
    interpreters: frozenset[str]
    module_interpreters: str
    test_launchers: str
    labelled_by_module: str
    labelled_by_script: str
    modules: frozenset[str]
    test_modules: frozenset[str]
    script_runners: frozenset[str]
    fetching: frozenset[str]
    test_script_runners: frozenset[str]
    script_endings: tuple[str, ...]
    own_script_endings: tuple[str, ...]
    builders: frozenset[str]
    task_runners: frozenset[str]
    wrappers: frozenset[str]
    package_runners: frozenset[str]
    runner_options: frozenset[str]
    own_subcommands: frozenset[str]
    shells: frozenset[str]
    labelled_with_subcommand: frozenset[str]
    external_folders: frozenset[str]
    external_folder_pairs: frozenset[str]
    subcommands: Mapping[str, frozenset[str]]

    @property
    def local(self) -> frozenset[str]:
        """Programs whose output is text of the project or of the machine."""
        return frozenset().union(
            self.readers,
            self.listers,
            self.carriers,
            self.testers,
            self.file_programs,
            self.shell_programs,
            self.build_programs,
            self.test_programs,
            {"graphmem"},
        )


PROGRAMS: Final = read_table("programs.toml", Programs)
LOCAL: Final = PROGRAMS.local
