"""The directory of an index."""

from __future__ import annotations

from pathlib import Path

from graphmem.errors import BadInputError, GitError


def prepare_data_dir(data_dir: Path) -> None:
    """Make the directory of an index, hidden from git.

    Raises:
        BadInputError: the system refused.
    """
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        ignore = data_dir / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise BadInputError(
            f"cannot make {data_dir}: {error.strerror or error}; name a directory you may write to with --db",
            argument="db",
            path=str(data_dir),
        ) from error


def refuse_a_strangers(data_dir: Path) -> None:
    """Refuse an index that came with a repository: its memories would be taken for one's own, its files for graphmem's.

    Git tracks nothing of an index that graphmem made, which hides it; rules are for people and may be tracked.

    Raises:
        BadInputError: git tracks it, or a folder above it may not be entered.
    """
    from graphmem.indexing import git

    place = data_dir.absolute()
    try:
        if not place.exists():
            return
    except PermissionError as error:
        raise BadInputError(
            f"{place} cannot be entered ({error.strerror}); give yourself the right to, or name another place with --db",
            argument="db",
            path=str(place),
        ) from error
    try:
        tracked = git.run(place.parent, "ls-files", "-z", "--cached", "--", place.name)
    except GitError:  # no git, no repository, or one it does not trust: then nothing was cloned here by this user
        return
    name = place.name.encode("utf-8", "surrogateescape")
    allowed = (name + b"/rules/", name + b"/.gitignore")
    strange = [one for one in tracked.split(b"\0") if one and not one.startswith(allowed)]
    if strange:
        raise BadInputError(
            f"{data_dir} came with the repository: git tracks {strange[0].decode('utf-8', 'replace')}. Somebody else's index would be "
            f"taken for yours; delete the folder and index again, or, if it is yours, take it out: `git rm -r --cached {place.name}`",
            argument="db",
            path=str(data_dir),
        )
