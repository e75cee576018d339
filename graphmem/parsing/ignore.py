"""Rules for skipping files and folders by their paths.

The rules cover ignore files, vendored folders, caches, binaries and lock files. Only names below the root are examined, so a root inside
`site-packages` can be indexed.
"""
# ruff: noqa: SIM905

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

GRAPHMEM_IGNORE: Final = ".graphmemignore"
GIT_IGNORE: Final = ".gitignore"

# Never source: folders of version control and of tools.
CACHE_FOLDERS: Final = frozenset(
    ".bzr .eggs .git .gradle .graphmem .hg .hypothesis .ipynb_checkpoints .mypy_cache .nox .parcel-cache .pnpm-store .pytest_cache "
    ".ruff_cache .svn .terraform .tox .yarn __pycache__".split()
)
# Third-party code in the tree.
VENDORED_FOLDERS: Final = frozenset(
    ".venv Carthage Pods _vendor _vendored bower_components jspm_packages node_modules site-packages third-party third_party "
    "thirdparty vendor venv virtualenv".split()
)
BINARY_SUFFIXES: Final = frozenset(
    "3gp 7z a aac ai apk arrow avi avif bin bmp bz2 class crx db dbf deb dex dll dmg doc docx dylib ear egg eot exe feather flac gif gpg "
    "gz h5 heic icns ico img ipa iso jar jks jp2 jpeg jpg keystore lib lockb lz4 lzma m4a m4v mmdb mo mov mp3 mp4 mpeg mpg node npy npz "
    "o obj odp ods odt ogg onnx opus otf p12 parquet pbm pdf pfx pickle pkl png ppt pptx psd pt pth pyc pyd pyo rar rpm safetensors shp "
    "shx so sqlite sqlite3 swf tar tgz tif tiff ttf wasm wav webm webp whl wma wmv woff woff2 xls xlsx xz z zip zst".split()
)
# Catalogues of translated sentences: hundreds of copies of one text, useless for questions about code.
TRANSLATION_SUFFIXES: Final = frozenset(("po", "pot", "xlf", "xliff"))
LOCK_FILES: Final = frozenset(
    "Cargo.lock Gemfile.lock Pipfile.lock bun.lock composer.lock flake.lock go.sum gradle.lockfile mix.lock npm-shrinkwrap.json "
    "package-lock.json packages.lock.json pdm.lock pnpm-lock.yaml poetry.lock pubspec.lock uv.lock yarn.lock".split()
)
# Committed build output: `app.3f9a1c.js`, `chunk-1a2b3c4d.css`, `assets/index-DkV3aXyz.js`; a hash has both digits and letters.
_BUILT: Final = re.compile(
    r"(?:^|[./])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,40}(?:\.(?:chunk|bundle|min|legacy))?\.(?:m?js|css)$"
    r"|[-_](?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,40}(?:\.(?:chunk|bundle|min|legacy))?\.(?:m?js|css)$"
    r"|(?:^|/)(?:assets|chunks|static)/(?:[^/]+/)*[^/]+-(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{8}\.(?:m?js|css)$"
)
_BUILT_FOLDER: Final = "dist"
_BUILT_ENDINGS: Final = (".js", ".mjs", ".cjs", ".css", ".d.ts", ".d.mts", ".d.cts")  # of files that a bundler or compiler writes
_MINIFIED_ENDINGS: Final = (".min.js", ".min.css", ".min.mjs", ".min.cjs", "-min.js", ".bundle.js", ".js.map", ".css.map", ".mjs.map")


@dataclass(frozen=True, slots=True)
class DiscoveryOptions:
    """Rules for skipping files.

    Attributes:
        max_file_bytes: size limit of a file, greater than 0; larger files are skipped.
        include_vendored: also index folders such as `vendor` and `node_modules`.
        include_generated: also index generated and minified files.
        exclude: further patterns in gitignore's syntax, relative to the root.
        use_git: ask git for the list of files if the root is in a repository.
    """

    max_file_bytes: int = 1 << 20
    include_vendored: bool = False
    include_generated: bool = False
    exclude: tuple[str, ...] = ()
    use_git: bool = True


MAX_STARS: Final = 3
"""Most stars in a part of a pattern, and most parts that are `**`.

Matching tries every position for each.
"""


def _is_endless(line: str) -> bool:
    parts = line.split("/")
    return sum(part == "**" for part in parts) > MAX_STARS or any(len(_STARS.findall(part)) > MAX_STARS for part in parts)


def _spec(lines: list[str]) -> GitIgnoreSpec | None:
    """Combine gitignore patterns into one spec; None if one is invalid."""
    from pathspec import GitIgnoreSpec

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # `[[a]` keeps its old meaning
        try:
            return GitIgnoreSpec.from_lines(lines)
        except (ValueError, re.error):
            return None


_STARS: Final = re.compile(r"\*+")


class IgnoreRules:
    """The rules of all ignore files in a directory tree.

    The patterns of an ignore file apply to the paths below its folder. If several ignore files have a pattern that matches a path, the one
    in the deepest folder decides.
    """

    def __init__(self) -> None:
        self._specs: dict[str, GitIgnoreSpec] = {}

    def add(self, folder: str, lines: Iterable[str]) -> list[str]:
        """Add the patterns of an ignore file; return the lines that are not used.

        A line is not used if it is not a valid pattern, or could take too long to match. Empty lines and comments are not returned.

        Args:
            folder: folder of the file, from the root, with '/'; "" for the root.
            lines: lines of the file, in gitignore's syntax.
        """
        patterns = [line for line in lines if line and not line.startswith("#")]
        unusable = [line for line in patterns if _is_endless(line)]
        patterns = [line for line in patterns if line not in unusable]
        spec = _spec(patterns)
        if spec is None:
            broken = [line for line in patterns if _spec([line]) is None]
            unusable += broken
            spec = _spec([line for line in patterns if line not in broken])
        if spec:
            held = self._specs.get(folder)
            self._specs[folder] = spec if held is None else held + spec
        return unusable

    def decide(self, path: str) -> bool | None:
        """Return whether a path is ignored; None if no pattern matches.

        False means that a `!` pattern includes the path explicitly.

        Args:
            path: path from the root, with '/'; a folder ends in '/'.
        """
        if not self._specs:
            return None
        folder = path.rstrip("/")
        while folder:
            folder = folder.rpartition("/")[0]
            spec = self._specs.get(folder)
            if spec is not None:
                verdict = spec.check_file(path[len(folder) + 1 :] if folder else path).include
                if verdict is not None:
                    return bool(verdict)
        return None

    def decide_below(self, path: str) -> bool | None:
        """Return whether a path, or a folder above it, is ignored.

        Like git, this method excludes everything below an ignored folder. If no folder above the path is ignored, the result is that of
        `decide`: True, False, or None.
        """
        if not self._specs:
            return None
        position = path.find("/")
        while position >= 0:
            if self.decide(path[: position + 1]):
                return True
            position = path.find("/", position + 1)
        return self.decide(path)


def folder_reason(name: str) -> str:
    """Return the reason to skip folders of a given name, or "".

    The reason is one of "cache", "vendored" and "generated".
    """
    if name in CACHE_FOLDERS:
        return "cache"
    if name in VENDORED_FOLDERS:
        return "vendored"
    return "generated" if name.endswith((".egg-info", ".dist-info")) else ""


def file_reason(path: str) -> str:
    """Return the reason to skip a file because of its path, or "".

    The reason is one of "binary", "generated", "minified" and "translation". JavaScript and style sheets are generated if a folder `dist`
    contains them, or if their name has a hash, such as `app.3f9a1c.js`.
    """
    folder, _, name = path.rpartition("/")
    stem, _, suffix = name.lower().rpartition(".")
    if not stem:  # `lib`, `.db`
        suffix = ""
    if suffix in BINARY_SUFFIXES:
        return "binary"
    if suffix in TRANSLATION_SUFFIXES:
        return "translation"
    if name in LOCK_FILES or _BUILT.search(path) or (name.endswith(_BUILT_ENDINGS) and _BUILT_FOLDER in folder.split("/")):
        return "generated"
    return "minified" if name.endswith(_MINIFIED_ENDINGS) else ""
