"""How git is asked: one subprocess without a shell. Nothing a repository configures is run, fetched, written or printed by it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from graphmem.errors import GitError

TIMEOUT_S: Final = 60
# What the configuration of a repository that came as an archive could make git run, reach for, print, or write behind our back.
COMMAND: Final = (
    *("git", "--literal-pathspecs", "--no-pager", "--no-optional-locks"),
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotepath=off", "-c", "color.ui=never"),
    *("-c", "diff.external=", "-c", "protocol.allow=never", "-c", "log.showSignature=false", "-c", "log.mailmap=true"),
)
_PREFIXES: Final = ("fatal: ", "error: ", "warning: ")


def environment() -> dict[str, str]:
    """Ours without what would point git at another repository, as in a hook; git asks nobody, and fetches nothing a partial clone lacks."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}


def answer(
    root: Path, arguments: Sequence[str], variables: Mapping[str, str] | None = None, timeout_s: float = TIMEOUT_S
) -> subprocess.CompletedProcess[bytes]:
    """What `git <arguments>` in `root` says, whether it refuses or not.

    Args:
        root: folder it is asked in.
        arguments: after the program and what `COMMAND` sets.
        variables: of the environment, beside those of `environment`.
        timeout_s: after which it is ended.

    Raises:
        GitError: git is not installed, takes longer, or an argument can be none.
    """
    try:
        return subprocess.run(
            [*COMMAND, *arguments],
            cwd=root,
            capture_output=True,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
            check=False,
            env={**environment(), **(variables or {})},
        )
    except ValueError:  # a null, or half a sign
        said = f"git {arguments[0]} cannot be asked about what is no text; name a commit, a branch, a tag or a file"
        raise GitError(said, command=tuple(arguments), stderr="") from None
    except FileNotFoundError:
        raise GitError("git is not installed or not on PATH; install it", command=tuple(arguments), stderr="") from None
    except OSError as error:  # more arguments than the system takes
        raise GitError(f"git {arguments[0]} cannot be run: {error.strerror}; ask for less", command=(arguments[0],), stderr="") from None
    except subprocess.TimeoutExpired:
        raise GitError(
            f"git {arguments[0]} took more than {timeout_s:g} s; run it by hand to see why, or ask for less",
            command=tuple(arguments),
            stderr="",
        ) from None


def run(root: Path, *arguments: str, variables: Mapping[str, str] | None = None) -> bytes:
    """Standard output of `git <arguments>` in `root`.

    Raises:
        GitError: git is not installed, takes more than a minute, or refuses; `stderr` says why.
    """
    done = answer(root, arguments, variables)
    if done.returncode:
        raise _refusal(root, arguments, done)
    return done.stdout


def is_no_repository(error: GitError) -> bool:
    """Whether git refused because there is no repository."""
    return "not a git repository" in str(error.facts.get("stderr", "")).casefold()


def reason(stderr: bytes) -> str:
    """The one line of what git wrote to standard error that says what is wrong; the others advise or explain how it is called."""
    lines = [line.strip() for line in os.fsdecode(stderr).splitlines() if line.strip()]
    for prefix in _PREFIXES:
        for line in lines:
            if line.startswith(prefix):
                return line.removeprefix(prefix).encode("utf-8", "replace").decode()
    return lines[0].encode("utf-8", "replace").decode() if lines else ""


def _refusal(root: Path, arguments: Sequence[str], done: subprocess.CompletedProcess[bytes]) -> GitError:
    stderr = done.stderr.decode("utf-8", "replace").strip()
    error = GitError(
        f"git {arguments[0]} refused: {reason(done.stderr) or f'exit code {done.returncode}'}; check the revision and the folder",
        command=tuple(arguments),
        stderr=stderr,
    )
    if is_no_repository(error):
        return GitError(
            f"{root} is not under git, so it has no revisions; what is to be compared can be given as the text of a diff",
            command=tuple(arguments),
            stderr=stderr,
        )
    return error
