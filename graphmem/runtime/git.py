"""Run Git without a shell and without a repository's own programs.

Programs that a repository configures are not run. Git does not fetch, and does not write to the repository.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from graphmem.errors import GitError
from graphmem.runtime.network.pushes import is_pushed

TIMEOUT_S: Final = 60
PUSHED: Final = (
    "the server has no repository of this project, which was pushed to it; ask where its files are, or give a change as the text of a diff"
)
_NO_REPOSITORY: Final = "not a git repository"
# The configuration of a repository from an archive could make Git run programs, use the network, or print and write files.
COMMAND: Final = (
    *("git", "--literal-pathspecs", "--no-pager", "--no-optional-locks"),
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotepath=off", "-c", "color.ui=never"),
    *("-c", "diff.external=", "-c", "protocol.allow=never", "-c", "log.showSignature=false", "-c", "log.mailmap=true"),
)
_READS_FILES: Final = frozenset({"diff", "blame", "checkout-index"})  # these run filters, which are programs
_OF_FILTERS: Final = {"clean": "", "smudge": "", "process": "", "required": "false"}
_PREFIXES: Final = ("fatal: ", "error: ", "warning: ")


def environment() -> dict[str, str]:
    """Return an environment for Git, by name, that selects no repository.

    Inside a Git hook, inherited variables would select another repository than that of the working directory. Such variables are left out.
    Added variables forbid prompts, and forbid fetching objects that a partial clone lacks.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}


def answer(
    root: Path, arguments: Sequence[str], variables: Mapping[str, str] | None = None, timeout_s: float = TIMEOUT_S
) -> subprocess.CompletedProcess[bytes]:
    """Run `git <arguments>` in `root`; return the process with its output.

    An exit code other than 0 is not an error here; see `run`.

    Args:
        root: working directory of the command.
        arguments: arguments after the program and the options of `COMMAND`.
        variables: environment variables in addition to those of `environment`.
        timeout_s: seconds after which Git is killed.

    Raises:
        GitError: Git is not installed or exceeds the time limit, an argument is invalid, or the project was pushed to a server.
    """
    if is_pushed(root):
        raise GitError(PUSHED, command=tuple(arguments), stderr=_NO_REPOSITORY)
    given = dict(variables or {})
    if arguments[0] in _READS_FILES:
        filters = answer(root, ("config", "-z", "--name-only", "--get-regexp", r"^filter\."), given, timeout_s).stdout
        given |= _without_filters(filters)
    try:
        return subprocess.run(
            [*COMMAND, *arguments],
            cwd=root,
            capture_output=True,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
            check=False,
            env={**environment(), **given},
        )
    except ValueError:  # a null or half a surrogate pair
        said = f"git {arguments[0]} cannot take a null character or half a surrogate pair; use a commit, branch, tag or file"
        raise GitError(said, command=tuple(arguments), stderr="") from None
    except FileNotFoundError:
        raise GitError("git is not installed or not on PATH; install git", command=tuple(arguments), stderr="") from None
    except OSError as error:  # more arguments than the system takes
        raise GitError(
            f"git {arguments[0]} cannot be run: {error.strerror}; name fewer files or a shorter range of revisions",
            command=(arguments[0],),
            stderr="",
        ) from None
    except subprocess.TimeoutExpired:
        raise GitError(
            f"git {arguments[0]} took more than {timeout_s:g} s; run the command by hand to find the cause, or use a shorter range "
            "of revisions",
            command=tuple(arguments),
            stderr="",
        ) from None


def run(root: Path, *arguments: str, variables: Mapping[str, str] | None = None) -> bytes:
    """Run `git <arguments>` in `root` and return the bytes that it prints.

    `variables` are environment variables in addition to those of `environment`.

    Raises:
        GitError: Git is not installed, takes more than a minute, or fails; `stderr` has its message.
    """
    done = answer(root, arguments, variables)
    if done.returncode:
        raise _refusal(root, arguments, done)
    return done.stdout


def is_no_repository(error: GitError) -> bool:
    """Whether Git failed because its working directory is in no repository.

    `error` is the error that `run` or `answer` raised.
    """
    return _NO_REPOSITORY in str(error.facts.get("stderr", "")).casefold()


def reason(stderr: bytes) -> str:
    """Return the line of Git's error output that states the cause.

    The result is the first line with a prefix such as `fatal:`, without the prefix. If no line has such a prefix, the first line is
    returned. Other lines are advice and usage.
    """
    lines = [line.strip() for line in os.fsdecode(stderr).splitlines() if line.strip()]
    for prefix in _PREFIXES:
        for line in lines:
            if line.startswith(prefix):
                return line.removeprefix(prefix).encode("utf-8", "replace").decode()
    return lines[0].encode("utf-8", "replace").decode() if lines else ""


def _without_filters(configured: bytes) -> dict[str, str]:
    """Return environment variables that disable a repository's Git filters.

    A filter is a program in a repository's settings, which Git would run on the content of files. `configured` is Git's list of these
    settings. Git's option `-c` could disable filters, too, but fails for a filter with an equals sign in its name.
    """
    names = sorted({key.rpartition(".")[0] for key in os.fsdecode(configured).split("\0") if key})
    settings = [(f"{name}.{key}", value) for name in names for key, value in _OF_FILTERS.items()]
    pairs = {f"GIT_CONFIG_{part}_{at}": text for at, one in enumerate(settings) for part, text in zip(("KEY", "VALUE"), one, strict=True)}
    return {"GIT_CONFIG_COUNT": str(len(settings)), **pairs}


def _refusal(root: Path, arguments: Sequence[str], done: subprocess.CompletedProcess[bytes]) -> GitError:
    stderr = done.stderr.decode("utf-8", "replace").strip()
    error = GitError(
        f"git {arguments[0]} refused: {reason(done.stderr) or f'exit code {done.returncode}'}; check the revision and the folder",
        command=tuple(arguments),
        stderr=stderr,
    )
    if is_no_repository(error):
        return GitError(
            f"{root} is not under git, so it has no revisions; give the change as the text of a diff",
            command=tuple(arguments),
            stderr=stderr,
        )
    return error


def is_bare(directory: Path) -> bool:
    """Whether a directory is a bare repository, which has no files to work on."""
    return (directory / "HEAD").is_file() and all((directory / name).is_dir() for name in ("objects", "refs"))
