"""Open a service for a command, and map its errors to exit codes."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphmem.cli.failures import PIPE_CLOSED, report, report_interrupt
from graphmem.cli.output import Output
from graphmem.errors import BadInputError, GraphMemError, RepositoryError, StoreBusyError
from graphmem.location import Location, find_project, locate
from graphmem.runtime.network.pushes import address_of
from graphmem.runtime.process.garbage import uncollected
from graphmem.settings import Settings, load_settings

if TYPE_CHECKING:
    from graphmem.client.connecting import Service
    from graphmem.project.graphmem import GraphMem

SEARCHABLE_S: Final = 120.0  # longer than a large index needs to rebuild its words


@dataclass
class CommandContext:
    """Everything that a command needs: output, settings, index and service."""

    output: Output
    settings: Settings
    location: Location
    branch: str = ""  # of the project on the server
    interrupted: str = ""  # consequence of Ctrl-C now, for its message
    _opened: GraphMem | None = field(default=None, repr=False)
    _stack: ExitStack = field(default_factory=ExitStack, repr=False)

    def root_to_index(self, service: Service) -> str | None:
        """Return the root directory of the project to index, or None.

        If the user gave a directory, it is returned. Otherwise, an index that stores its project's root gives None. An index without a
        root is new, has only memories, or its first index run did not end. Then the result is the root of the project that contains the
        current directory.
        """
        if self.location.root is not None:
            return str(self.location.root)
        return None if service.project().root else str(project_here())

    def option_to_find(self) -> str:
        """Return the option that a further command needs to find this index.

        The command runs in the current directory. The result is "" if it needs no option.
        """
        root = project_here()
        settings = load_settings(root, os.environ, {})
        found = locate(None if settings.db else root, settings, os.environ)
        return "" if found.data_dir == self.location.data_dir else f"--db {shlex.quote(str(self.location.data_dir))}"

    def expect_files(self) -> None:
        """Check that the project of a new index has a file.

        Raises:
            RepositoryError: the index is new, and the project has no files or is a bare repository.
        """
        from graphmem.runtime import git

        root = self.location.root
        if root is None or self.location.exists or not os.access(root, os.R_OK | os.X_OK):  # reading it reports the error
            return
        if git.is_bare(root):
            raise RepositoryError(f"{root} is a bare repository, which has no files; give the directory of a clone of it", path=str(root))
        for _, folders, names in os.walk(root):
            if names:
                return
            folders[:] = [name for name in folders if name != ".git"]
        raise RepositoryError(f"{root} contains no files; give a directory with source files", path=str(root))

    def existing(self) -> Path:
        """Return the directory of an existing index that no server has open.

        Raises:
            NotIndexedError: the index is missing.
            StoreBusyError: a server has the index open.
        """
        from graphmem.client.connecting import expect_index
        from graphmem.server import owner

        expect_index(self.location, create=False)
        if owner.find(self.location.owner_file) is not None:
            raise StoreBusyError(
                "this command cannot run while a server has the index open; stop the server and run the command again",
                path=str(self.location.data_dir),
            )
        return self.location.data_dir

    def server_token(self, address: str) -> str:
        """Return the caller's token for a server of several projects.

        The result is "" without a token.
        """
        from graphmem.client.logins import token_for

        return self.settings.server_token or token_for(address)

    def service(self, *, create: bool = False, whole: bool = False, here: bool = False) -> Service:
        """Return an object with the operations of the command's project.

        The object is one of these:

        * a client of a server of many projects, if the setting `server` names a project on such a server;
        * a client of the local index's server, if that server is running;
        * the local index, opened in this process.

        Args:
            create: create the index if it is missing; without this, a missing index is an error.
            whole: wait until search by words, by vectors and along the graph is ready; if it takes too long, print a note.
            here: use the local index even if the setting `server` is set.
        """
        # One query multiplies too little for the threads of numpy, which take longer to start than they save.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        with uncollected():
            from graphmem.client.connecting import checked_server, connect, is_local

        if self.settings.server and not here:
            from graphmem.client.remote import RemoteGraphMem

            token = self.server_token(self.settings.server)
            return RemoteGraphMem(checked_server(self.settings.server, token) + address_of("", self.branch), token)
        if self.branch and not here:
            raise BadInputError(
                "--branch needs the address of a server, because local indexes have no branches; give the project's address with --server",
                argument="branch",
            )
        with uncollected():
            service = connect(self.location, self.settings, create=create)
        self._stack.callback(service.close)
        if is_local(service):
            self._opened = service
        if whole and not service.wait_until_ready(SEARCHABLE_S):
            self.output.note("the index is still being prepared; the answer lists what is missing")
        return service

    def tell_damage(self, service: GraphMem | None = None, reported: str = "") -> None:
        """Report damage that was found and repaired when the index was opened.

        Args:
            service: the opened service; None for the service of this command.
            reported: text that was already printed; a note that occurs in this text is not printed again.
        """
        opened = service or self._opened
        notes = [note for note in (opened.damage if opened is not None else ()) if note not in reported]
        for note in notes:
            self.output.stderr.line(("graphmem: ", "yellow"), note)
        if notes:
            self.output.stderr.line("  `graphmem verify` checks whether the index is sound now")


@dataclass(frozen=True, slots=True)
class IndexChoice:
    """The index that a person chose for a command.

    Attributes:
        project: root of the project; None for the project that contains the current directory.
        db: directory of the index, if given.
        home: keep a new index under the user's data directory.
        server: address of a project on a server, used instead of a local index.
        branch: the branch of that project; None for the main branch.
    """

    project: Path | None = None
    db: Path | None = None
    home: bool = False
    server: str | None = None
    branch: str | None = None


@contextmanager
def command_context(
    choice: IndexChoice, flags: Mapping[str, object], *, as_json: bool = False, quiet: bool = False
) -> Iterator[CommandContext]:
    """Load the settings, run a command in the block, and report its errors.

    An error prints one sentence and ends the process with its exit code.

    Args:
        choice: the index.
        flags: other settings given on the command line, by key.
        as_json: print the answer, or an error, as JSON on standard output.
        quiet: print only the bare answer.
    """
    output = Output(as_json, quiet)
    opened: CommandContext | None = None
    try:
        root = directory(choice.project) if choice.project is not None else project_here()
        db = str(choice.db) if choice.db is not None else None
        given = {"db": db, "home": choice.home or None, "server": choice.server, **flags}
        settings = load_settings(root, os.environ, given)
        _log_to_stderr(settings)
        location = locate(root if choice.project is not None or not settings.db else None, settings, os.environ)
        opened = CommandContext(output, settings, location, choice.branch or "")
        with opened._stack:
            said = ""
            try:
                yield opened
            except GraphMemError as error:
                said = error.message
                raise
            finally:
                opened.tell_damage(reported=said)
        sys.stdout.flush()
    except GraphMemError as error:
        report(error, output)
    except KeyboardInterrupt:
        report_interrupt(output, opened.interrupted if opened else "")
    except BrokenPipeError:
        # The reader has closed the pipe (`| head`). Python would report it again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(PIPE_CLOSED) from None


def project_here() -> Path:
    """Return the root of the project that contains the current directory.

    Raises:
        RepositoryError: the current directory was deleted.
    """
    try:
        return find_project(Path.cwd())
    except FileNotFoundError:
        raise RepositoryError("the current directory was deleted; change to another one, or name the project with -C", path="") from None


def directory(path: Path) -> Path:
    """Return an existing directory as an absolute path.

    Raises:
        RepositoryError: the path does not exist, or is a file.
    """
    absolute = path.expanduser().absolute()
    if not absolute.exists():
        raise RepositoryError(f"the project directory {path} does not exist; give the directory of a project", path=str(path))
    if not absolute.is_dir():
        raise RepositoryError(f"{path} is a file, not a directory; give the directory of a project", path=str(path))
    return absolute.resolve()


def _log_to_stderr(settings: Settings) -> None:
    import logging

    from graphmem.server.logs import log_to

    log_to(None, settings.log_level, settings.log_format)
    for sentence in settings.ignored:
        logging.getLogger(__name__).warning("%s", sentence)
