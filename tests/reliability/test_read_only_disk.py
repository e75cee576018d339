"""An index on a disk that can only be read, or whose disk was full when its server was killed, answers questions."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT_RIGHTS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search")
SUPPORT = Path(__file__).parents[1] / "support"
READS = (
    ["search", "the ring"],
    ["symbol", "f0"],
    ["impact", "f1"],
    ["memory", "list"],
    ["hotspots"],
    ["export"],
    ["verify"],
)

ASKING = """
import os, sys
sys.path.insert(0, {support!r})
from forked import Forks

with Forks(os.environ) as forks:
    for command in {reads!r}:
        done = forks.run(*command, "--db", sys.argv[1])
        assert done.returncode == 0, (command, done.stderr)
    refused = forks.run(*{write!r}, "--db", sys.argv[1])
    assert refused.returncode in (1, 2), refused
    assert "Read-only file system" in refused.stderr, refused
print("refused")
"""


def in_a_namespace(script: str, environ, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell script that may mount, where only it sees what it mounts."""
    command = ["unshare", "-m", "sh", "-ec", script]
    return subprocess.run(command, cwd=cwd, env=dict(environ), capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(autouse=True)
def mounting(environ, tmp_path):
    if os.geteuid() != 0 or shutil.which("unshare") is None or in_a_namespace("mount -t tmpfs t .", environ, tmp_path).returncode:
        pytest.skip("needs the right to mount: it uses a read-only disk")


@pytest.mark.parametrize("unclean", [False, True])
def test_a_disk_that_can_only_be_read_answers_reads_and_is_not_touched(index, repo, tmp_path, environ, unclean):
    index.close()
    db = tmp_path / "index"
    if unclean:
        (db / "graph.db.lock").unlink()
    before = {path: path.read_bytes() for path in sorted(db.rglob("*")) if path.is_file()}
    script = tmp_path / "script.py"
    script.write_text(ASKING.format(support=str(SUPPORT), reads=READS, write=["remember", "not to be kept"]))
    done = in_a_namespace(f"mount --bind {db} {db}; mount -o remount,bind,ro {db}; {sys.executable} {script} {db}", environ, repo)
    assert done.stdout.split()[-1:] == ["refused"], done.stderr
    assert {path: path.read_bytes() for path in sorted(db.rglob("*")) if path.is_file()} == before


MOVED = """
import os, sys
sys.path.insert(0, {support!r})
from forked import Forks

with Forks(os.environ) as forks:
    for command in {reads!r}:
        done = forks.run(*command, "-C", sys.argv[1])
        assert done.returncode == 0, (command, done.stderr)
    assert sys.argv[1] in forks.run("doctor", "-C", sys.argv[1]).stdout
    assert "def f1" in forks.run("search", "f1", "-C", sys.argv[1]).stdout  # read from the files of the new place
    refused = forks.run("remember", "not to be kept", "-C", sys.argv[1])
    assert refused.returncode in (1, 2), refused
print("refused")
"""


def test_a_project_that_was_moved_to_a_disk_that_can_only_be_read_answers_reads(repo, tmp_path, environ):
    def graphmem(*words: str, cwd: Path) -> None:
        subprocess.run([sys.executable, "-P", "-m", "graphmem", *words, "-q"], cwd=cwd, env=dict(environ), check=True)

    graphmem("index", cwd=repo)
    moved = tmp_path / "moved"
    repo.rename(moved)
    before = {path: path.read_bytes() for path in sorted(moved.rglob("*")) if path.is_file()}
    script = tmp_path / "script.py"
    script.write_text(MOVED.format(support=str(SUPPORT), reads=READS))
    only_read = f"mount --bind {moved} {moved}; mount -o remount,bind,ro {moved}; {sys.executable} {script} {moved}"
    done = in_a_namespace(only_read, environ, tmp_path)
    assert done.stdout.split()[-1:] == ["refused"], done.stderr
    assert {path: path.read_bytes() for path in sorted(moved.rglob("*")) if path.is_file()} == before


SERVING = """
import subprocess, sys
from graphmem.client.remote import RemoteGraphMem
from graphmem.errors import GraphMemError

def tried(call):
    try:
        call()
    except GraphMemError as error:
        return str(error)
    return ""

command = [sys.executable, "-P", "-m", "graphmem", "serve", "--db", sys.argv[1], "--port", "0", "--quiet"]
process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
try:
    with RemoteGraphMem(process.stdout.readline().strip()) as service:
        assert service.search("the ring", limit=3).hits
        assert service.impact("f1").hits
        assert len(service.memories(limit=10).memories) == 3
        assert "f2" in str(service.symbol("f2"))
        assert list(service.export())
        for write in (lambda: service.remember("not to be kept"), lambda: service.index(full=True), lambda: service.forget("memory-0")):
            said = tried(write)
            assert "writable" in said and "--db" in said, said
        assert len(service.memories(limit=10).memories) == 3
finally:
    process.terminate()
    out, err = process.communicate(timeout=60)
assert process.returncode == 0, err
assert "Traceback" not in err, err
assert "commands cannot find this server; it answers at http://127.0.0.1:" in err, err
print("served")
"""


@pytest.mark.parametrize("why", ["disk", "rights"])
def test_a_server_of_an_index_that_can_only_be_read_answers_and_refuses_writes(index, repo, tmp_path, environ, why):
    index.close()
    db = tmp_path / "index"
    before = {path: path.read_bytes() for path in sorted(db.rglob("*")) if path.is_file()}
    script = tmp_path / "script.py"
    script.write_text(SERVING)
    if why == "disk":
        first = f"mount --bind {db} {db}; mount -o remount,bind,ro {db}; "
    else:
        first = f"chmod -R a-w {db}; exec {' '.join(WITHOUT_RIGHTS)} "
    done = in_a_namespace(f"{first}{sys.executable} {script} {db}", environ, repo)
    assert done.stdout.split()[-1:] == ["served"], done.stderr[-3000:]
    subprocess.run(["chmod", "-R", "u+w", str(db)], check=True)
    assert {path: path.read_bytes() for path in sorted(db.rglob("*")) if path.is_file()} == before


FULL = """
mount -t tmpfs -o size=96m,mode=0755 tmpfs {place}
exec {python} {script} {place}
"""

SCRIPT = """
import os, signal, subprocess, sys
from pathlib import Path
sys.path.insert(0, {here!r})
from graphmem import GraphMem
from graphmem.errors import DiskFullError
from graphmem.server import owner
from graphmem.settings import Settings
from test_full_disk import fill, served, tried

place, repo = Path(sys.argv[1]), Path({repo!r})
db, kept = place / "index", []
with served(repo, db, os.environ) as (service, pid):
    service.index(full=True)
    service.remember("the ring begins here", id="first")
    filler = fill(place)
    for number in range(20):
        if not tried(lambda: service.remember(f"note {{number}} of the last bytes", id=f"note{{number}}")):
            kept.append(f"note{{number}}")
    os.kill(pid, signal.SIGKILL)
size = filler.stat().st_size
for again in range(2):  # the first may have found room where the killed one had some
    with served(repo, db, os.environ) as (service, _):
        assert {{"first", *kept}} <= {{one.id for one in service.memories(limit=500).memories}}
        assert service.search("the ring", k=3).hits
        assert service.impact("f1").hits
        refused = tried(lambda: service.index(full=True))
        assert refused.startswith("LIMIT: "), refused
        assert "make room" in refused
        if again:
            filler.unlink()
            assert tried(lambda: service.index(full=True)) == ""
            assert tried(lambda: service.remember("there is room again", id="later")) == ""
with GraphMem.open(db, settings=Settings(embedder="none", workers=1, max_db_gb=1)) as memory:
    assert {{"first", "later", *kept}} <= {{one.id for one in memory.memories(limit=500).memories}}
    assert memory.verify_index().sound
assert not list(db.rglob("*.quarantine"))
print("whole")
"""


def test_a_server_killed_on_a_full_disk_comes_back_for_reading(repo, tmp_path, environ):
    place = tmp_path / "disk"
    place.mkdir()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(here=str(Path(__file__).parent), repo=str(repo)))
    done = in_a_namespace(FULL.format(place=place, python=sys.executable, script=script), environ, repo)
    assert done.stdout.split()[-1:] == ["whole"], done.stderr[-3000:]
