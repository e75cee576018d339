"""Cut documents and other files without code into passages.

Documentation is cut at headings, and other files at lines. Of a data file, only the beginning is cut into passages.
"""
# ruff: noqa: SIM905

from __future__ import annotations

import re
from typing import Final, NamedTuple

from graphmem.parsing.statements import line_pieces

_DATA_SUFFIXES: Final = frozenset(
    "cfg conf csv dae drawio env eps excalidraw geojson gml gpx har ini json json5 jsonc jsonl kml ldif "
    "list lock ndjson plist properties ps reg resx snap sum svg toml topojson tsv xml xsd yaml yml".split()
)
_DRAWING_SUFFIXES: Final = frozenset("dae drawio eps excalidraw geojson gml gpx kml ps svg".split())
_PROSE_SUFFIXES: Final = frozenset("adoc asciidoc htm markdown md mdown mdx org pod rdoc rst tex text textile txt wiki".split())
_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_UNDERLINE: Final = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}[ \t]*$")
_FENCE: Final = re.compile(r"[ \t]{0,3}(```+|~~~+)")
_HEADING_LENGTH: Final = 80  # most characters of a stored heading


class Passage(NamedTuple):
    """A span of a document and its heading ("" for none)."""

    start: int
    end: int
    heading: str


def is_data(name: str) -> bool:
    """Whether a file, by its name, contains data for programs (`x.json`).

    Only the first bytes of a data file are divided into chunks for search.
    """
    return name.rpartition(".")[2].lower() in _DATA_SUFFIXES and "." in name


def is_drawing(name: str) -> bool:
    """Whether a file name is that of a drawing stored as text, such as SVG."""
    return name.rpartition(".")[2].lower() in _DRAWING_SUFFIXES and "." in name


def is_prose(name: str) -> bool:
    """Whether a file, by its name, contains text for people, such as `x.md`.

    Names in capitals without an extension (README, LICENSE) are included.
    """
    stem, dot, suffix = name.rpartition(".")
    return suffix.lower() in _PROSE_SUFFIXES if dot and stem else name.isupper()


def plain_passages(source: bytes, start: int, end: int, limit: int, max_lines: int, heading: str = "") -> list[Passage]:
    """Cut a span into passages of at most `limit` bytes and `max_lines` lines.

    The span is from byte `start` up to `end`. Cuts are at blank lines where possible. Each passage gets the same `heading`.
    """
    passages = []
    for a, b in line_pieces(source, start, end, limit):
        position = a
        while source.count(b"\n", position, b) > max_lines:
            cut = position
            for _ in range(max_lines):
                cut = source.find(b"\n", cut, b) + 1
            blank = source.rfind(b"\n\n", position + (cut - position) // 2, cut) + 1
            cut = blank if blank > position else cut
            passages.append(Passage(position, cut, heading))
            position = cut
        passages.append(Passage(position, b, heading))
    return passages


def data_passages(source: bytes, limit: int, max_lines: int, bound: int) -> list[Passage]:
    """Cut the first `bound` bytes of a data file into passages.

    As in `plain_passages`, a passage has at most `limit` bytes and `max_lines` lines.
    """
    end = len(source)
    if end > bound:
        newline = source.rfind(b"\n", 0, bound) + 1
        end = newline or bound
        while 0 < end < len(source) and source[end] & 0xC0 == 0x80:
            end -= 1
    return plain_passages(source, 0, end, limit, max_lines)


def prose_passages(source: bytes, limit: int, max_lines: int, small: int) -> list[Passage]:
    """Cut a document into one passage per section.

    Sections below `small` bytes are joined with the next section. Sections over `limit` bytes or `max_lines` lines are cut, at blank lines
    where possible.
    """
    passages: list[Passage] = []
    start, heading = 0, ""
    sections = [*_sections(source), (len(source), "")]
    for position, next_heading in sections:
        last = position == len(source)
        if not heading and not source[start:position].strip():
            start, heading = position, next_heading
            continue
        if position - start < small and not last:
            heading = heading or next_heading
            continue
        passages.extend(plain_passages(source, start, position, limit, max_lines, heading))
        start, heading = position, next_heading
    return passages


def _sections(source: bytes) -> list[tuple[int, str]]:
    """Return the start and heading path ("Guide > Install") of each section.

    The source is Markdown or reStructuredText. In Markdown, headings may begin with `#` or be underlined.
    """
    found: list[tuple[int, str]] = []
    styles: list[str] = []  # underline characters by level, in order of appearance, as in reStructuredText
    trail: list[tuple[int, str]] = []
    fence, has_hashes = "", False
    position = 0
    above, above_at = "", 0
    lines = source.decode("utf-8", "replace").split("\n")
    in_front_matter = bool(lines) and lines[0].rstrip() == "---"
    for number, line in enumerate(lines):
        size = len(line.encode("utf-8")) + 1
        if in_front_matter:
            in_front_matter = number == 0 or line.rstrip() != "---"
        elif opened := _FENCE.match(line):
            fence = ("" if opened[1].startswith(fence) else fence) if fence else opened[1]
        elif not fence:
            level, title, at = 0, "", position
            if match := _HEADING.match(line):
                level, title, has_hashes = len(match[1]), match[2], True
            elif (match := _UNDERLINE.match(line)) and _is_underlined(above, line):
                if match[1] not in styles:
                    styles.append(match[1])
                # Markdown's underlines have fixed levels; a "#" heading shows that the text is Markdown.
                level = styles.index(match[1]) + 1 if not has_hashes else 1 + (match[1] == "-")
                title, at = above, above_at
            if title:
                trail = [entry for entry in trail if entry[0] < level]
                trail.append((level, title.strip()[:_HEADING_LENGTH]))
                found.append((at, " > ".join(name for _, name in trail)))
        above, above_at = line, position
        position += size
    return found


def _is_underlined(title: str, underline: str) -> bool:
    return bool(title.strip()) and not title[0].isspace() and len(underline.rstrip()) >= len(title.rstrip()) and not _UNDERLINE.match(title)
