"""Files that others give us, fuzzed: exports, rules of other tools, backups, globs, paths, and words made to take long."""

from __future__ import annotations

import hashlib
import json
import os
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.errors import BadInputError, DatabaseDamagedError, GraphMemError
from graphmem.maintenance import archive as archives
from graphmem.memory.files import importers, rules, sync
from graphmem.memory.texts.redact import redact
from graphmem.memory.texts.text import fingerprint
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

RUNS = int(os.environ.get("FUZZ_RUNS", "1"))
QUICK = {"deadline": None, "suppress_health_check": list(HealthCheck)}
CPU_S = 5.0  # for what is a matter of milliseconds: exponential time is hours

NAMES = [
    "CLAUDE.md",
    "AGENTS.md",
    "GEMINI.md",
    ".cursorrules",
    "rules.mdc",
    "facts.md",
    "notes.md",
    "MEMORY.md",
    "export.json",
    "x.txt",
    "",
]
PIECES = [
    *(
        "# Architecture",
        "## Gotchas\n",
        "- ",
        "* ",
        "1. ",
        "- [id:a1b2] ",
        "[id:",
        "<!--",
        "-->",
        "<!-- type: gotcha confidence: 0.5 -->",
        "---\n",
    ),
    *(
        "globs: **/*.py, x\n",
        "alwaysApply: true\n",
        "```",
        "```python\n",
        "|a|b|\n|-|-|\n",
        "\t",
        "    ",
        "\r\n",
        "\n\n",
        "\x00",
        "\u2028",
        "\ufeff",
    ),
    *(
        "confidence: 1e999",
        "confidence: nan",
        "type: nope",
        "Account.withdraw takes an amount",
        "bank/account.py:2",
        "é漢🙂",
        "\ud800",
        "**",
        "__",
        "`",
    ),
]
_MARKDOWN = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=40).map("".join)


@pytest.fixture(scope="module")
def own(bank: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphMem]:
    """An index these tests may spoil."""
    with GraphMem.open(
        tmp_path_factory.mktemp("files") / "index", repo=bank, settings=Settings(embedder="none", workers=1, git_history=False)
    ) as memory:
        memory.index(bank)
        for number in range(6):
            memory.remember(
                f"Account.withdraw number {number} has to be called before the till is closed.",
                id=f"kept-{number}",
                tags=["till"],
                files=["bank/account.py"],
                details={"lines": number},
                visibility=("project", "team", "personal")[number % 3],
            )
        memory.set_alias("till", ["drawer"])
        yield memory


@pytest.fixture(scope="module")
def exports(own: GraphMem) -> dict[str, str]:
    return {
        "export.json": own.export_memories("json"),
        "notes.md": own.export_memories("markdown"),
        "CLAUDE.md": own.export_memories("claude"),
    }


def refusal_of(work: Callable[[], object], *kinds: type[GraphMemError]) -> GraphMemError | None:
    """The refusal some work ends with, of these kinds and with a reason; None when it was done."""
    try:
        work()
    except GraphMemError as error:
        refused = error
    else:
        return None
    assert refused.code != "INTERNAL", refused
    assert not kinds or isinstance(refused, kinds), refused
    return refused


def whole(memory: GraphMem) -> set[str]:
    """Check that the index answers; return its memories, retired ones too."""
    assert memory.memories(limit=1_000).total
    return {one.id for one in memory.parts.book.index().all_rows()}


# ---- importers


@settings(max_examples=25 * RUNS, **QUICK)
@given(data=st.data())
def test_exports_that_were_cut_and_changed_are_taken_in_or_refused_whole(
    own: GraphMem, exports: dict[str, str], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(exports)))
    text = exports[name]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        length = data.draw(st.sampled_from([0, 1, 2, 20, 500]))
        text = text[:at] + data.draw(st.one_of(st.just(""), st.sampled_from(PIECES), st.text(max_size=4))) + text[at + length :]
    before = whole(own)
    called = data.draw(st.sampled_from([name, *NAMES]))
    refused = refusal_of(lambda: own.import_memories(text, called), BadInputError)
    assert whole(own) >= before
    assert refused is None or (len(refused.message) < 4_000 and whole(own) == before)


_VALUE: Any = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=20), st.sampled_from(PIECES)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=4,
)


@settings(max_examples=60 * RUNS, **QUICK)
@given(data=st.data())
def test_an_export_with_any_value_anywhere_is_taken_in_or_refused_whole(
    own: GraphMem, exports: dict[str, str], data: st.DataObject
) -> None:
    document = json.loads(exports["export.json"])
    for _ in range(data.draw(st.integers(1, 3))):
        place: Any = document
        while True:
            keys = sorted(place) if isinstance(place, dict) else range(len(place))
            if not keys:
                break
            key = data.draw(st.sampled_from(list(keys)))
            if isinstance(place[key], (dict, list)) and place[key] and data.draw(st.integers(0, 3)):
                place = place[key]
                continue
            if isinstance(place, dict) and data.draw(st.integers(0, 4)) == 0:
                del place[key]
            else:
                place[key] = data.draw(_VALUE)
            break
    before = whole(own)
    refused = refusal_of(lambda: own.import_memories(json.dumps(document), "export.json"), BadInputError)
    assert refused is None or (len(refused.message) < 4_000 and whole(own) == before)


@settings(max_examples=60 * RUNS, **QUICK)
@given(text=_MARKDOWN, name=st.sampled_from(importers.NAMES))
def test_rules_of_other_tools_are_read_or_refused_whatever_is_in_them(text: str, name: str) -> None:
    if name == importers.JSON:
        return
    try:
        reading = importers.read(text, name)
    except BadInputError:
        return
    assert all(item["content"] for item in reading.items)
    assert all(line >= 1 for line in [*reading.short, *reading.references])


@settings(max_examples=25 * RUNS, **QUICK)
@given(text=_MARKDOWN)
def test_a_memory_file_with_anything_in_it_is_carried_over_or_refused_whole(own: GraphMem, tmp_path_factory, text: str) -> None:
    file = tmp_path_factory.mktemp("sync") / "MEMORY.md"
    own.sync_file(dry_run=True)
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    before = whole(own)
    refused = refusal_of(lambda: sync.sync(own.parts.book, file, file.parent, "fuzz", False), BadInputError)
    assert refused is None or whole(own) == before
    assert whole(own) >= before


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"format": "graphmem", "memories": ' + "[" * 200_000,
        '{"a":' * 100_000,
        "- " * 300_000,
        "#" * 500_000,
        "<!--" * 200_000,
        "`" * 500_000,
        "```\n" * 200_000,
        "[id:" * 200_000,
        "---\n" + "a: b\n" * 100_000,
        " " * 1_000_000 + "x",
        "a" * 4_000_000,
        "*" * 300_000 + "a",
        "-----BEGIN PRIVATE KEY-----\n" * 50_000,
        "a_" * 500_000 + "=",
        "eyJ" * 300_000 + ".",
        "://" * 300_000 + "@",
    ],
    ids=range(17),
)
def test_texts_made_to_take_long_take_no_longer_than_others(own: GraphMem, text: str) -> None:
    for work in (
        lambda: own.import_memories(text, "CLAUDE.md"),
        lambda: own.import_memories(text, "notes.md"),
        lambda: own.import_memories(text, "export.json"),
        lambda: own.remember(text),
        lambda: own.search(text[:2_000]),
        lambda: redact(text[:200_000]),
        lambda: fingerprint(text[:200_000]),
    ):
        begun = time.process_time()
        refusal_of(work)
        assert time.process_time() - begun < CPU_S
    for one in own.memories(limit=1_000).memories:
        if not one.id.startswith("kept-"):
            own.forget(one.id, hard=True)


# ---- globs, patterns, paths


@settings(max_examples=200 * RUNS, **QUICK)
@given(
    glob=st.lists(
        st.sampled_from(["*", "**", "?", "[", "]", "!", "a", "b", ".", "/", "\\", "{", ",", "}", "[a-z]", "\x00", "é"]), max_size=30
    ).map("".join),
    path=st.lists(st.sampled_from(["a", "b", "/", ".", "..", "é", "\n", "aaaa"]), max_size=30).map("".join),
)
def test_globs_are_matched_or_not_and_never_fail(glob: str, path: str) -> None:
    assert rules._matches(glob, path) in (True, False)


@pytest.mark.parametrize(
    "glob", ["*a" * 500 + "b", "**/" * 500 + "b", "[a" * 500, "?" * 5_000, "*" * 5_000 + "b", "{a,b}" * 500, "a" * 100_000]
)
def test_no_glob_takes_long(glob: str) -> None:
    begun = time.process_time()
    for path in ("a" * 5_000, "a/" * 2_000 + "a", "a" * 200 + "/b"):
        rules._matches(glob, path)
    assert time.process_time() - begun < CPU_S


HOSTILE_PATHS = [
    *("../secret.txt", "../../etc/passwd", "/etc/passwd", "bank/../../secret.txt", "link/secret.txt", "link", "loop", "loop/loop/loop"),
    *("bank//account.py", "./bank/./account.py", "bank/account.py/", "bank/account.py/x", ".", "..", "/", "", "\x00", "a\x00b", "\ud800"),
    *(
        "CON",
        "C:\\secret.txt",
        "file:///etc/passwd",
        "~/.ssh/id_rsa",
        "-rf",
        "$(id)",
        "`id`",
        "x" * 5_000,
        "a/" * 2_000,
        "\n",
        "pipe",
        "secret.txt",
    ),
]


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GraphMem, Path]]:
    """A project with links that lead out of it and around, and a secret beside it."""
    folder = tmp_path_factory.mktemp("trap")
    (folder / "outside").mkdir()
    (folder / "outside" / "secret.txt").write_text("the secret of the outside\n")
    (folder / "secret.txt").write_text("the secret beside\n")
    (folder / "outside" / "code.py").write_text("def secret_of_the_outside():\n    return 1\n")
    root = folder / "project"
    (root / "bank").mkdir(parents=True)
    (root / "bank" / "account.py").write_text("def withdraw():\n    return 1\n")
    (root / "link").symlink_to(folder / "outside", target_is_directory=True)
    (root / "bank" / "secret.py").symlink_to(folder / "outside" / "code.py")
    (root / "MEMORY.md").symlink_to(folder / "secret.txt")
    (root / "loop").symlink_to(root / "loop")
    (root / "round").symlink_to(root, target_is_directory=True)
    os.mkfifo(root / "pipe.py")
    with GraphMem.open(folder / "index", repo=root, settings=Settings(embedder="none", workers=1, git_history=False)) as memory:
        memory.index(root)
        yield memory, root


def test_nothing_outside_of_the_project_is_indexed(trap: tuple[GraphMem, Path]) -> None:
    memory, _ = trap
    assert {one.path for one in memory.files()[0]} == {"bank/account.py"}
    assert not memory.symbols("secret_of_the_outside")[0]
    assert "secret" not in json.dumps(list(memory.export()))


@pytest.mark.parametrize("path", HOSTILE_PATHS, ids=range(len(HOSTILE_PATHS)))
def test_no_path_leads_out_of_the_project(trap: tuple[GraphMem, Path], path: str) -> None:
    memory, root = trap
    said = []
    for ask in (
        lambda: memory.symbol(path, source=True),
        lambda: memory.symbol(f"{path}:1", source=True),
        lambda: memory.files(path),
        lambda: memory.impact([path]),
        lambda: memory.search("secret", files=[path], within=[path]),
        lambda: memory.co_access([path]),
        lambda: memory.file_history([path]),
        lambda: memory.prefetch(path),
        lambda: memory.context("tool", files=[path], text=path),
        lambda: memory.rules([path]),
        lambda: memory.remember("A note about a file that lies somewhere.", files=[path], id="note"),
        lambda: memory.sync_file(path, dry_run=True),
        lambda: memory.sync_file(path + ".md"),
        lambda: memory.atlas_symbols([path]),
        lambda: memory.impact_of_diff(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x\n+y\n"),
        lambda: memory.impact_of_diff(base=path),
        lambda: memory.restore(path),
    ):
        refused = refusal_of(lambda ask=ask: said.append(repr(ask())))
        said.append(refused.message if refused is not None else "")
    assert "the secret" not in "".join(said)
    assert (root.parent / "secret.txt").read_text() == "the secret beside\n"
    assert sorted(one.name for one in root.parent.iterdir()) == ["index", "outside", "project", "secret.txt"]


# ---- backups


@pytest.fixture(scope="module")
def archive(own: GraphMem) -> Path:
    return Path(own.backup().path)


@settings(max_examples=10 * RUNS, **QUICK)
@given(data=st.data())
def test_an_archive_that_was_cut_or_changed_is_refused_and_nothing_is_changed(
    own: GraphMem, archive: Path, tmp_path_factory, data: st.DataObject
) -> None:
    written = bytearray(archive.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.one_of(st.integers(0, len(written) - 1), st.integers(max(0, len(written) - 3_000), len(written) - 1)))
        if data.draw(st.integers(0, 5)) == 0:
            del written[at:]
            written += b"\0"
        else:
            written[at] ^= data.draw(st.integers(1, 255))
    broken = tmp_path_factory.mktemp("archive") / "broken.zip"
    broken.write_bytes(written)
    before = whole(own)
    refusal_of(lambda: own.restore(str(broken)))  # or it is done: a flip may hit a byte that means nothing, such as a time
    assert whole(own) == before
    assert not list(own.parts.data_dir.glob(".restore-*"))


@pytest.mark.parametrize(
    "name", ["tokens.json", "owner.json", "../tokens.json", "memories/../tokens.json", "/etc/x", "sandbox/graph.db", "a\\..\\b", ""]
)
def test_an_archive_brings_no_tokens_and_no_owner(own: GraphMem, archive: Path, tmp_path: Path, name: str) -> None:
    evil = tmp_path / "evil.zip"
    body = b'{"version": 1, "tokens": []}'
    with zipfile.ZipFile(archive) as good, zipfile.ZipFile(evil, "w") as out:
        manifest = json.loads(good.read(archives.MANIFEST))
        manifest["files"][name] = [len(body), hashlib.sha256(body).hexdigest()]
        out.writestr(archives.MANIFEST, json.dumps(manifest))
        for entry in good.namelist():
            if entry != archives.MANIFEST:
                out.writestr(entry, good.read(entry))
        if name:
            out.writestr(name, body)
    with pytest.raises((BadInputError, DatabaseDamagedError)):
        own.restore(str(evil))
    assert not (own.parts.data_dir / "tokens.json").exists()


@pytest.mark.parametrize("kind", ["bomb", "many", "deep", "manifest"])
def test_archives_made_to_burst_are_refused_small(own: GraphMem, archive: Path, tmp_path: Path, kind: str) -> None:
    bomb = tmp_path / "bomb.zip"
    manifest = archives.read_manifest(archive)._asdict()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as out:
        if kind == "bomb":
            manifest["files"] = {"notes.txt": [10, "0" * 64]}
            out.writestr("notes.txt", b"\0" * (200 << 20))
        elif kind == "many":
            manifest["files"] = {f"f{number}": [0, "0" * 64] for number in range(20_000)}
        elif kind == "deep":
            out.writestr(archives.MANIFEST, "[" * 1_000_000)
        else:
            out.writestr(archives.MANIFEST, b" " * (65 << 20))
        if kind in ("bomb", "many"):
            out.writestr(archives.MANIFEST, json.dumps(manifest))
    begun = time.process_time()
    before = sum(one.stat().st_size for one in own.parts.data_dir.rglob("*") if one.is_file())
    with pytest.raises((BadInputError, DatabaseDamagedError)):
        own.restore(str(bomb))
    assert time.process_time() - begun < 10
    assert sum(one.stat().st_size for one in own.parts.data_dir.rglob("*") if one.is_file()) < before + (1 << 20)
