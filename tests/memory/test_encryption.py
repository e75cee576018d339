"""With encryption on, no byte of an index holds the words of a memory."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
import zlib

import pytest

from commands import run_here
from graphmem import GraphMem
from graphmem.errors import EncryptionError
from graphmem.project.encrypting import decrypt, encrypt
from graphmem.runtime.files import vault
from graphmem.settings import Settings

PLANTED = "zebrafish tellers never balance the marmalade ledger"
EDITED = "quokka auditors must balance the marmalade twice"
WORDS = (b"zebrafish", b"marmalade", b"quokka", b"tellers", b"stripedtag", b"wombatterm")
SETTINGS = Settings(embedder="none")

# Everything that a project does with a memory, until the process is killed.
LIFE = f"""
import os, signal, sys
from pathlib import Path
from graphmem import GraphMem
from graphmem.settings import Settings

root, key = Path(sys.argv[1]), sys.argv[2]
memory = GraphMem.open(repo=root, settings=Settings(embedder="none", memory_key_file=key))
memory.index(root)
said = lambda text, step: dict(session_id="s", step=step, kind="message", text=text, args=dict(role="user"))
memory.observe([said("Remember: {PLANTED} in sessions.", 1), said("No, that's wrong: {EDITED} at night.", 2)])
one = memory.remember("{PLANTED}", files=["pay.py"], tags=["stripedtag"], title="zebrafish rule").memory
memory.set_alias("wombatterm", ["marmalade"])
memory.update_memory(one.id, content="{EDITED}")
memory.remember("{PLANTED} of the second kind, which goes", "gotcha", symbols=["pay"])
assert memory.search("marmalade ledger auditors", kinds=["memory"]).hits
assert memory.search("wombatterm", kinds=["memory"]).hits
memory.end_session("s")
(root / "pay.py").write_text("def pay(x):\\n    return x + 1\\n")
memory.index(root)
memory.parts.projections.cool()
memory.backup()
memory.backup(None, True)
memory.compact()
memory.remember("{PLANTED} of the last kind", "decision")
print("done", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def pieces(name, data, depth=0):
    """A file's bytes, and all that is packed in it."""
    yield name, data
    if depth > 3:
        return
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as zipped:
            for one in zipped.namelist():
                yield from pieces(f"{name}:{one}", zipped.read(one), depth + 1)
    elif data[:2] == b"\x1f\x8b":
        yield from pieces(f"{name}:gz", gzip.decompress(data), depth + 1)
    else:
        for start in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data):
            try:
                unpacked = zlib.decompressobj().decompress(data[start.start() : start.start() + (1 << 20)], 1 << 22)
            except zlib.error:
                continue
            if len(unpacked) > 8:
                yield f"{name}:zlib@{start.start()}", unpacked


def found(folder):
    """Files of a directory with a planted word, in any packing."""
    return sorted(
        {
            name.split(":")[0]
            for path in folder.rglob("*")
            if path.is_file()
            for name, data in pieces(path.relative_to(folder).as_posix(), path.read_bytes())
            if any(word in data for word in WORDS)
        }
    )


def new_project(root):
    root.mkdir()
    (root / "pay.py").write_text("def pay(x):\n    return x\n")
    return root


@pytest.fixture
def project(tmp_path):
    return new_project(tmp_path / "project")


@pytest.fixture(scope="module")
def plain_project(tmp_path_factory):
    root = new_project(tmp_path_factory.mktemp("plain") / "project")
    live(root, None)
    return root


@pytest.fixture
def key(tmp_path):
    file = tmp_path / "key"
    file.write_text("k" * 64)
    return file


def live(root, key):
    done = subprocess.run([sys.executable, "-c", LIFE, str(root), str(key or "")], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "done\n", done.stderr
    assert done.returncode == -signal.SIGKILL
    return done.stderr


def contents(memory):
    return sorted(one.content for one in memory.memories(limit=50).memories)


def test_no_byte_of_an_encrypted_index_holds_the_words_of_a_memory(project, key):
    said = live(project, key)
    assert found(project) == []
    assert not any(word.decode() in said for word in WORDS)
    with GraphMem.open(repo=project, settings=SETTINGS) as memory:  # `encryption.json` names the key
        known = contents(memory)
        assert EDITED in known
        assert any(one.endswith("of the last kind") for one in known)
        assert memory.search("marmalade auditors", kinds=["memory"]).hits[0].memory.content
        assert memory.verify_index().sound
        assert memory.doctor()["encryption"]["state"] == "on"
    assert found(project) == []


def test_the_same_life_without_a_key_leaves_the_words_in_plain_text(plain_project):
    plain = found(plain_project)
    assert {".graphmem/graph.db", ".graphmem/memories/journal-0000000001.jsonl"} <= set(plain)
    assert any(name.startswith(".graphmem/backups/") for name in plain)


def test_a_plain_index_is_encrypted_and_decrypted(plain_project, key, tmp_path):
    project = shutil.copytree(plain_project, tmp_path / "project")
    data = project / ".graphmem"
    with GraphMem.open(repo=project, settings=SETTINGS) as memory:
        before = contents(memory)
        audit = memory.audit(limit=100).total
    with pytest.raises(EncryptionError, match="--remove-copies"):
        encrypt(data, SETTINGS, key)
    made = encrypt(data, SETTINGS, key, remove_copies=True)
    assert made.removed >= 2
    assert found(project) == []
    with GraphMem.open(repo=project, settings=SETTINGS) as memory:
        assert contents(memory) == before
        assert memory.audit(limit=100).total == audit + 1  # the encryption itself
        assert [one.term for one in memory.aliases()] == ["wombatterm"]
    assert encrypt(data, SETTINGS, key).key == made.key  # again changes nothing
    assert decrypt(data, SETTINGS).memories >= len(before)
    assert ".graphmem/graph.db" in found(project)
    with GraphMem.open(repo=project, settings=SETTINGS) as memory:
        assert contents(memory) == before


def test_a_wrong_short_or_lost_key_is_an_error_with_a_remedy(project, key, tmp_path):
    with GraphMem.open(repo=project, settings=Settings(embedder="none", memory_key_file=str(key))) as memory:
        memory.remember(PLANTED)
    other, short = tmp_path / "other", tmp_path / "short"
    other.write_text("o" * 64)
    short.write_text("s")
    for wrong, why in ((other, "the given key is"), (short, "needs at least 32"), (tmp_path / "missing", "cannot be read")):
        with pytest.raises(EncryptionError, match=why):
            GraphMem.open(repo=project, settings=Settings(embedder="none", memory_key_file=str(wrong)))
    key.rename(tmp_path / "moved")
    vault._known.clear()
    with pytest.raises(EncryptionError, match="GRAPHMEM_MEMORY_KEY_FILE"):
        GraphMem.open(repo=project, settings=SETTINGS)
    (project / ".graphmem" / vault.FILE).unlink()
    with pytest.raises(EncryptionError, match="was not given"):
        GraphMem.open(repo=project, settings=SETTINGS)
    failing = Settings(embedder="none", memory_key_command=f"cat {tmp_path / 'missing'}")
    with pytest.raises(EncryptionError, match=r"the command in the setting memory_key_command, .* failed \(Called.*; run it by hand"):
        GraphMem.open(repo=project, settings=failing)
    command = Settings(embedder="none", memory_key_command=f"cat {tmp_path / 'moved'}")
    with GraphMem.open(repo=project, settings=command) as memory:
        assert contents(memory) == [PLANTED]
        memory.remember(EDITED)
    assert found(project) == []  # the mark is written again from the journal


def test_an_export_is_encrypted_and_comes_back(project, key, tmp_path):
    settings = {"GRAPHMEM_MEMORY_KEY_FILE": str(key), "GRAPHMEM_EMBEDDER": "none"}

    def run(*arguments):
        done = run_here({**os.environ, **settings}, *arguments, "--project", project)
        assert done.code == 0, done.err
        return done.out

    run("remember", PLANTED)
    file = project / "out.json"
    run("export", "--memories", "json", "-o", str(file))
    assert found(project) == []
    run("import", str(file))
    run("export", "--memories", "json", "--plain", "-o", str(file))
    assert PLANTED in file.read_text()
    with (
        GraphMem.open(repo=project, settings=SETTINGS) as memory,
        pytest.raises(EncryptionError, match="unencrypted"),
    ):
        memory.sync_file("MEMORY.md")


def test_a_backup_is_restored_only_where_its_key_is_in_use(project, key, tmp_path):
    with_key = Settings(embedder="none", memory_key_file=str(key))
    with GraphMem.open(repo=project, settings=with_key) as memory:
        memory.remember(PLANTED)
        made = memory.backup(tmp_path / "one.zip")
        memory.remember(EDITED)
        memory.restore(made.path)
        assert contents(memory) == [PLANTED]
    assert found(project) == []
    with GraphMem.open(tmp_path / "plain", settings=SETTINGS) as memory, pytest.raises(EncryptionError, match="unlike the memories"):
        memory.restore(made.path)
    with GraphMem.open(tmp_path / "sealed", settings=with_key) as memory:
        memory.restore(made.path)
        assert contents(memory) == [PLANTED]
    assert found(tmp_path / "sealed") == []
