"""Find titles of modules: what each module does, in a few words.

The title comes from the documentation of the module's package. Otherwise it comes from a README or architecture page, from a table row or
list item about the module's folder. Otherwise it consists of words that distinguish the names in the module from those in other modules.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphmem.projection.graph.arrays import SYMBOL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from graphmem.analysis.semantic.modules import Modules

WORDS: Final = 3  # words of a title without documentation
LONGEST: Final = 60  # characters of a title
FEWEST: Final = 2  # definitions or files that must have a word
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MARKED: Final = re.compile(
    r"^[\s|*+\-\d.]*\[?(?:`{1,2}|\*\*)([\w./@-]+?)/?(?:`{1,2}|\*\*)\]?(?:\([^)]*\))?\s*"  # a name in backticks or bold, maybe a link
    r"(?:\||:|—|–|--?\s)\s*(\w.*)$"  # and the description after a separator
)
_MARKUP: Final = re.compile(r"`|\*\*|\[([^\]]*)\]\([^)]*\)")
# Words of names that say how code is written, and not what it does.
_COMMON_WORDS: Final = (
    "get set add new init make made main test tests self cls value values data name names key keys item items list dict str "
    "string int bool object objects type types kind base class func function method call calls arg args kwargs param params "
    "result results index util utils helper helpers impl common default module file files path paths one two all any from "
    "with for and the not has have can does did into onto create update delete remove read write run start stop open close "
    "load save next prev first last to is of in on by as or at it no "
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())


class Title(NamedTuple):
    """A short text on what a module does, and where the text was found."""

    text: str
    source: str  # docs, readme, names, or "" for none


def titles(modules: Modules, descriptions: Mapping[str, str]) -> list[Title]:
    """Return a title for each module, in the order of `Modules.groups`.

    Args:
        modules: the modules of the project.
        descriptions: description of each folder, from the project's Markdown pages; see `folder_descriptions`.
    """
    found: list[Title] = []
    words = setting_apart(modules)
    for i, group in enumerate(modules.groups):
        documented = modules.documentation(group)
        page = next((descriptions[one] for one in _folders(group.name, group.path) if one in descriptions), "")
        if documented:
            found.append(Title(shortened(documented), "docs"))
        elif page:
            found.append(Title(shortened(page), "readme"))
        else:
            found.append(Title(", ".join(words[i]), "names" if words[i] else ""))
    return found


def shortened(text: str) -> str:
    """Shorten a sentence to its first clause, or else to some whole words.

    In the second case, "…" follows the words.
    """
    text = " ".join(_MARKUP.sub(lambda match: match[1] or "", text).split())
    first = re.split(r"(?<=\w)[.;:](?:\s|$)", text, maxsplit=1)[0]
    text = (first if first.count(" ") > 1 else text).rstrip(" .,|")
    if len(text) <= LONGEST:
        return text
    clause = text.rpartition(", ")[0] if ", " in text[:LONGEST] else ""
    while len(clause) > LONGEST:
        clause = clause.rpartition(", ")[0]
    return clause if len(clause) > LONGEST // 3 else f"{text[:LONGEST].rpartition(' ')[0]}…"


def folder_descriptions(pages: Iterable[str], folders: Collection[str]) -> dict[str, str]:
    """Find descriptions of folders in tables and lists of Markdown pages.

    The result maps a folder to its description. A row or an item is used if it begins with a name in bold or code style: "| `parsing` |
    bytes to facts |", "- **store/**: the database". Most entries of its table or list must be names of folders: an item of a list of
    options may have the name of a folder, but does not describe the folder.

    Args:
        pages: texts of the pages.
        folders: paths of the project's folders.
    """
    ends = {"/".join(parts[start:]) for parts in (one.split("/") for one in folders) for start in range(len(parts))}
    found: dict[str, str] = {}
    for page in pages:
        for entries in _lists(page):
            if 2 * sum(name in ends for name, _ in entries) > len(entries):
                for name, said in entries:
                    found.setdefault(name, said)
    return found


def _lists(page: str) -> Iterator[list[tuple[str, str]]]:
    """Yield the entries of each table or list of a page, as (name, text).

    Blank lines, further lines of an item and rows without a name do not end a list; a heading or a paragraph does.
    """
    entries: list[tuple[str, str]] = []
    for line in page.splitlines():
        match = _MARKED.match(line)
        if match is not None and " " in match[2].strip():
            entries.append((match[1].strip("/"), match[2].partition(" | ")[0].strip(" |")))
        elif entries and line.strip() and not line.lstrip().startswith(("|", "-", "*", "+")) and not line.startswith(" "):
            yield entries
            entries = []
    if entries:
        yield entries


def setting_apart(modules: Modules) -> list[list[str]]:
    """Return words that distinguish each module from others, best first.

    The words come from names of definitions and files. A word counts more if more definitions of the module have it, and less if more
    modules have it. Words of the module's own name are ignored.
    """
    view, files = modules.view, modules.files
    nodes = np.flatnonzero((view.label == SYMBOL) & (view.parent >= 0)).astype(np.int32)
    of_file = files.file_of(nodes)
    chosen = (of_file >= 0) & ~files.is_test[np.maximum(of_file, 0)]
    counts: list[Counter[str]] = [Counter() for _ in modules.groups]
    for node, file in zip(nodes[chosen].tolist(), of_file[chosen].tolist(), strict=True):
        place = int(modules.of_file[file])
        if place >= 0:
            counts[place].update(set(_words(view.name(node))))
    for group, count in zip(modules.groups, counts, strict=True):
        for path in group.paths:
            for word in set(_words(path.rpartition("/")[2].partition(".")[0])):
                count[word] += 3  # the name of a file says more than the name of a function
    spread: Counter[str] = Counter(word for count in counts for word in count)
    return [_best(count, spread, len(counts), set(_words(group.name))) for group, count in zip(modules.groups, counts, strict=True)]


def _best(count: Counter[str], spread: Mapping[str, int], modules: int, own: set[str]) -> list[str]:
    stems = {_stem(word) for word in own}
    score = {
        word: n**0.75 * math.log((1 + modules) / spread[word])
        for word, n in count.items()
        if n >= FEWEST and _stem(word) not in stems and word not in _COMMON and len(word) > 2
    }
    found: list[str] = []
    for word in sorted(score, key=lambda word: (-score[word], word)):
        if _stem(word) not in {_stem(one) for one in found}:
            found.append(word)
        if len(found) == WORDS:
            break
    return found


def _words(name: str) -> list[str]:
    return [part.lower() for part in _PART.findall(name)]


def _stem(word: str) -> str:
    for ending in ("ies", "es", "s", "ing", "ed", "er"):
        if word.endswith(ending) and len(word) - len(ending) > 3:
            return word[: -len(ending)]
    return word


def _folders(name: str, path: str) -> Sequence[str]:
    """Return names by which documentation may mention a module.

    The names are the module's path and name, and the last parts of both.
    """
    whole = [one for one in (path, name) if one and ":" not in one]
    return list(dict.fromkeys([*whole, *(one.rpartition("/")[2] for one in whole)]))
