"""No secret that came in by any way is anywhere in the index directory or in a backup of it; nor is what was marked as private."""

from __future__ import annotations

import importlib.util
import json
import os
import sqlite3
import subprocess
import sys
import zipfile
import zlib
from contextlib import closing, suppress
from pathlib import Path

import pytest

from graphmem import GraphMem
from graphmem.errors import BadInputError
from graphmem.memory.texts.redact import redact
from graphmem.runtime.files.checksums import sealed_json
from graphmem.settings import Settings

CORPUS = Path(__file__).parents[2] / "benchmarks" / "redaction.py"
DIARY = "the moon base opens in spring"  # what only a person may know
PRIVATE = [
    f"<private>{DIARY}</private>",
    f"<PRIVATE>a <private>b</private> {DIARY}</Private>",
    f"<private reason='x'>\n{DIARY}\n</private>",
    f"<private>{DIARY}",
]


def corpus() -> list[tuple[str, str]]:
    """(text, secret), one of each kind the benchmark knows."""
    spec = importlib.util.spec_from_file_location("redaction_corpus_of_doors", CORPUS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found: dict[str, tuple[str, str]] = {}
    for one in module.secrets(7, 6):
        said = f"Since Monday the build needs this: {one.text} and nobody on the team has changed it afterwards."
        if one.kind != "email" and one.kind not in found and one.secret in said and module.is_found(one, redact(said)[0]):
            found[one.kind] = (said, one.secret)
    assert len(found) > 40
    return list(found.values())


@pytest.fixture(scope="module")
def samples() -> list[tuple[str, str]]:
    return corpus()


def come_in_by_every_door(memory: GraphMem, root: Path, texts: list[str]) -> None:
    """Every text through every way that words of people, agents and sessions take."""
    for number, text in enumerate(texts):
        with suppress(BadInputError):  # mostly a secret, or a tag that is too long
            memory.remember(text, details={"note": text, "password": text})
        with suppress(BadInputError):
            memory.remember(text, tags=[text.replace("\n", " ")], details={"note": text, "password": text})
        with suppress(BadInputError):
            memory.remember_many([{"content": f"In bulk, number {number}: {text}"}], skip_invalid=True)
        kept = memory.remember(f"The queue number {number} of the shop is drained at midnight, by cart.add_item.").memory
        with suppress(BadInputError):
            memory.dispute(kept.id, reason=text[:900])
        with suppress(BadInputError):
            memory.verify(kept.id)
        with suppress(BadInputError):
            memory.set_alias(f"queue{number}", [text.replace("\n", " ")])
        with suppress(BadInputError):
            memory.import_memories(f"# Rules\n\n- {text}\n\nProse, too: {text}\n", f"{number}.md", "markdown")
        with suppress(BadInputError):
            exported = json.loads(memory.export_memories("json"))
            exported["memories"] = [exported["memories"][0] | {"id": f"given-{number}", "content": f"Imported {number}: {text}"}]
            memory.import_memories(json.dumps(exported), "given.json")
        # Each in a file of its own: a line that is refused stops the others.
        (root / "MEMORY.md").write_text(f"# Notes\n\n## General\n\n- Line {number} of the file: {text.replace(chr(10), chr(10) + '  ')}\n")
        for _ in range(2):
            with suppress(BadInputError):
                memory.sync_file()
        with suppress(FileNotFoundError):
            (root / "MEMORY.md").unlink()
        session = f"session-{number}"
        memory.start_session(session, title=text, work_unit=text, branch=text, agent="tester")
        args = {"command": f"deploy {text}", "description": text}
        events = [
            {"kind": "message", "args": {"role": "user"}, "text": text},
            {"kind": "message", "args": {"role": "user"}, "text": f"Remember this: always {text}"},
            {"kind": "message", "args": {"role": "assistant"}, "text": text},
            {"kind": "reasoning", "text": text},
            {"kind": "tool_call", "tool": "Bash", "args": args},
            {"kind": "tool_result", "tool": "Bash", "args": args, "ok": False, "text": f"ValueError: {text}\n{text}\nError: {text}"},
            {"kind": "tool_call", "tool": "Grep", "args": {"pattern": text, "path": "cart.py"}, "ok": True},
            {"kind": "tool_call", "tool": "WebFetch", "args": {"url": f"https://example.org/?q={text}"}, "ok": True},
            {
                "kind": "tool_call",
                "tool": "Edit",
                "args": {"file_path": str(root / "cart.py"), "old_string": "a", "new_string": text},
                "ok": True,
            },
            {"kind": "failure", "tool": "Bash", "text": f"Error: {text}"},
            {"kind": "approval", "text": f"use {text}", "ok": True},
            {"kind": "step_complete", "text": text, "args": {"work_unit": text, "outcome": "validated", "title": text, "task": text}},
        ]
        memory.observe([{"session": session, "step": step, **one} for step, one in enumerate(events)])
        memory.context("prompt", session=session, text=text)
        if number % 2:  # the others go on: trails
            memory.end_session(session)
        payload = {"hook_event_name": "UserPromptSubmit", "session_id": f"hook-{number}", "cwd": str(root), "prompt": text}
        memory.hook("claude-code", json.dumps(payload))
        payload |= {
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": args,
            "tool_response": {"stdout": text, "stderr": text},
        }
        memory.hook("claude-code", json.dumps(payload))
    memory.finish_quiet() if hasattr(memory, "finish_quiet") else None
    memory.backup()
    memory.backup(portable=True)


def everything(data_dir: Path) -> dict[str, bytes]:
    """Every byte of the directory and of its backups, rows of databases and what is deflated in them included."""
    found: dict[str, bytes] = {}

    def take(name: str, data: bytes, path: Path | None) -> None:
        found[name] = data
        if data.startswith(b"SQLite format 3\0"):
            copy = path or data_dir.parent / "row.sqlite"
            if path is None:
                copy.write_bytes(data)
            with closing(sqlite3.connect(copy)) as db:
                for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                    with suppress(sqlite3.Error):
                        for row in db.execute(f'SELECT * FROM "{table}"'):
                            found[name] += b"\n".join(
                                value.encode() if isinstance(value, str) else value for value in row if isinstance(value, (str, bytes))
                            )
                            for value in row:
                                if isinstance(value, bytes):
                                    for way in (-15, 15):
                                        with suppress(zlib.error):
                                            found[name] += zlib.decompressobj(way).decompress(value)

    for path in sorted(data_dir.rglob("*")):
        if not path.is_file():
            continue
        name = path.relative_to(data_dir).as_posix()
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as zipped:
                for one in zipped.namelist():
                    take(f"{name}: {one}", zipped.read(one), None)
        else:
            take(name, path.read_bytes(), path)
    return found


def pieces(secret: str) -> set[bytes]:
    """Strings that must not be found: the secret, and long parts of it.

    The JSON form of the secret counts, too.
    """
    parts = {secret, secret[-16:], secret[len(secret) // 2 :][:16]} if len(secret) > 40 else {secret}
    return {form for part in parts for form in (part.encode(), json.dumps(part)[1:-1].encode())}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "cart.py").write_text("def add_item(cart, item):\n    cart.append(item)\n")
    return root


def opened(root: Path) -> GraphMem:
    return GraphMem.open(db=root / ".graphmem", repo=root, settings=Settings(embedder="none"))


def test_no_secret_of_the_corpus_is_in_any_file_whatever_door_it_came_in_by(project: Path, samples: list[tuple[str, str]]) -> None:
    who = {f"GIT_{name}_{what}": "a@example.org" for name in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", *arguments], cwd=project, check=True, env={**os.environ, **who}, capture_output=True)
    for number, (text, _) in enumerate(samples):
        (project / "cart.py").write_text(f"def add_item(cart, item):\n    cart.append(item)  # {number}\n")
        subprocess.run(
            ["git", "commit", "-qam", f"Fix the cart\n\nIt broke because {text}"], cwd=project, check=True, env={**os.environ, **who}
        )
    with opened(project) as memory:
        memory.index(project)
        come_in_by_every_door(memory, project, [text for text, _ in samples])
        assert memory.memories(limit=1000).total > 20
        scanned = memory.scan_secrets()
        assert ([one.kinds for one in scanned.found], scanned.files) == ([], [])
    found = everything(project / ".graphmem")
    assert len(found) > 30
    leaks = {(name, secret) for name, data in found.items() for _, secret in samples for piece in pieces(secret) if piece in data}
    assert not leaks, sorted(leaks)


def test_what_is_private_is_in_no_file(project: Path) -> None:
    with opened(project) as memory:
        memory.index(project)
        come_in_by_every_door(memory, project, [f"The cache of the shop is warm. {one}" for one in PRIVATE])
        memory.backup(portable=True)
    assert [name for name, data in everything(project / ".graphmem").items() if DIARY.encode() in data] == []


def test_private_lines_of_memory_md_stay_in_the_file_alone(project: Path) -> None:
    with opened(project) as memory:
        memory.index(project)
        (project / "MEMORY.md").write_text(
            f"# Notes\n\n## General\n\n- The shop closes at nine.\n<private>\n- First: {DIARY}.\n- Second: {DIARY}.\n</private>\n"
            "- The shop opens at ten.\n"
        )
        memory.sync_file()
        kept = {one.content for one in memory.memories(limit=200).memories}
        assert {"The shop closes at nine.", "The shop opens at ten."} <= kept
        memory.sync_file()
        (project / "MEMORY.md").write_text((project / "MEMORY.md").read_text() + f"<private>\n- Third: {DIARY}.\n")
        memory.remember("Orders are final.", type="fact")
        memory.sync_file()
        text = (project / "MEMORY.md").read_text()
        assert text.count(DIARY) == 3  # the file is the person's
        assert text.index("Orders are final.") < text.index("Third")
        memory.backup(portable=True)
    assert [name for name, data in everything(project / ".graphmem").items() if DIARY.encode() in data] == []


def test_a_scan_names_file_and_kind_in_every_file_that_an_earlier_version_wrote(project: Path) -> None:
    secret = "Tr0ub4dor&3xyz"
    line = f"The mirror is at https://robot:{secret}@pkg.example.org/simple by now."
    data_dir = project / ".graphmem"
    with opened(project) as memory:
        memory.index(project)
        memory.remember("The shop closes at nine.", type="fact")
        memory.sync_file()
        memory.start_session("one", title="work")
        memory.observe([{"session": "one", "kind": "tool_call", "tool": "Bash", "args": {"command": "make"}, "ok": True, "step": 1}])
        memory.end_session("one")
    state = json.loads((data_dir / "memory-md.json").read_text())
    state.pop("seal", None)
    next(iter(state["files"].values()))["in_file"]["ffff"] = line
    (data_dir / "memory-md.json").write_bytes(sealed_json({"files": state["files"]}))
    (data_dir / "sessions").mkdir(exist_ok=True)
    (data_dir / "sessions" / "old.md").write_text(f"# Old\n\n- {line}\n")
    (data_dir / "server.log").write_text(f"ERROR {line}\n")
    (data_dir / "trails").mkdir(exist_ok=True)
    (data_dir / "trails" / "old.trail").write_text('00000000 ["act",' + json.dumps({"text": line}) + "]\n")
    with closing(sqlite3.connect(data_dir / "old.sqlite")) as db, db:
        db.execute("CREATE TABLE receipt (body BLOB)")
        db.execute("INSERT INTO receipt VALUES (?)", (zlib.compress(json.dumps({"why": line}).encode()),))
    with opened(project) as memory:
        memory.backup()
        found = memory.scan_secrets()
        names = {one.file.rpartition(": ")[2] for one in found.files}
        assert {"memory-md.json", "sessions/old.md", "server.log", "trails/old.trail", "old.sqlite"} <= names
        assert {kind for one in found.files for kind in one.kinds} == {"connection_string"}
        assert any(one.file.startswith("backups/") for one in found.files)
        assert secret not in repr(found)
        done = memory.scan_secrets(dry_run=False)
        assert {one.file for one in done.files if one.cleaned} == {"memory-md.json", "sessions/old.md"}
        assert secret not in (data_dir / "memory-md.json").read_text() + (data_dir / "sessions" / "old.md").read_text()
        assert memory.sync_file().conflicts == []


def test_what_is_too_large_to_be_read_is_named(project: Path) -> None:
    with GraphMem.open(repo=project, settings=Settings(embedder="none")) as memory:
        memory.remember("The queue of the shop is drained at midnight, by cart.add_item.")
        data = project / ".graphmem"
        with zipfile.ZipFile(memory.backup().path) as zipped:
            kept = {one: zipped.read(one) for one in zipped.namelist()}
        backup = data / "backups" / "large.graphmem.zip"
        with zipfile.ZipFile(backup, "w", zipfile.ZIP_DEFLATED) as zipped:
            for name, content in (kept | {"sessions/large.md": b"a" * ((64 << 20) + 1)}).items():
                zipped.writestr(name, content)
        (data / "server.log").write_bytes(b"b\n" * ((32 << 20) + 1))
        found = {one.file: one for one in memory.scan_secrets(dry_run=False).files}
    assert found["backups/large.graphmem.zip: sessions/large.md"].kinds == ["too_large"]
    assert found["server.log"].kinds == ["too_large"]
    assert not any(one.cleaned for one in found.values())


def test_a_damaged_file_of_the_last_sync_is_named_and_stays_as_it_is(project: Path, samples: list[tuple[str, str]]) -> None:
    said, secret = samples[0]
    with GraphMem.open(repo=project, settings=Settings(embedder="none")) as memory:
        memory.remember("The queue of the shop is drained at midnight, by cart.add_item.")
        memory.sync_file(project / "MEMORY.md")
        path = project / ".graphmem" / "memory-md.json"
        whole = sealed_json({"files": {"MEMORY.md": {"in_file": {"a1": said}, "in_graph": {}, "ours": [], "taken": []}}})
        damaged = whole.replace(b'"a1"', b'"a2"')
        path.write_bytes(damaged)
        (one,) = (one for one in memory.scan_secrets(dry_run=False).files if one.file == path.name)
        assert ("damaged" in one.kinds, one.cleaned) == (True, False)
        assert path.read_bytes() == damaged
        path.write_bytes(whole)
        (one,) = (one for one in memory.scan_secrets(dry_run=False).files if one.file == path.name)
        assert one.cleaned
        assert secret.encode() not in path.read_bytes()
