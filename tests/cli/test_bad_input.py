"""Bad input through the real command: one clear sentence each, and the previous index still answers."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from graphmem.cli.failures import INTERRUPTED
from trees import NETWORKX


def _refused(ran, *words: str, code: int = 1) -> None:
    assert ran.code == code, ran.said
    lines = [line for line in ran.err.splitlines() if line.startswith("graphmem: ")]
    assert len(lines) == 1, ran.said
    for word in words:
        assert word in lines[0], ran.said
    assert "Traceback" not in ran.said


def _still_answers(graphmem, root: Path) -> None:
    ran = graphmem("impact", "rounded", "-q", "-C", root)
    assert ran.code == 0, ran.said
    assert "shop/price.py:Price.total" in ran.out


def test_a_path_that_does_not_exist(process, tmp_path: Path) -> None:
    for command in ("index", "serve"):
        _refused(process(command, tmp_path / "nowhere"), "nowhere", "does not exist", code=2)
    _refused(process("impact", "x", "-C", tmp_path / "nowhere"), "does not exist", code=2)
    _refused(process("index", Path(__file__)), "is a file", code=2)


@pytest.mark.parametrize("command", [("symbol", "rounded"), ("index",), ("memory", "list"), ("install", "claude-code")])
def test_a_current_directory_that_was_deleted(graphmem, shop: Path, environ, command: tuple[str, ...]) -> None:
    assert graphmem("index", shop, "-q").code == 0
    gone = shop / "gone"  # as after `git switch` to a branch that lacks the directory
    gone.mkdir()
    words = [sys.executable, "-P", "-m", "graphmem", *command]
    script = ["sh", "-c", f"rmdir {shlex.quote(str(gone))} && exec {shlex.join(words)}"]
    done = subprocess.run(script, cwd=gone, env=dict(environ), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "graphmem: the current directory was deleted; change to another one, or name the project with -C\n",
    )
    gone.mkdir()
    words = [sys.executable, "-P", "-m", "graphmem", "symbol", "rounded", "-C", str(shop)]
    script = ["sh", "-c", f"rmdir {shlex.quote(str(gone))} && exec {shlex.join(words)}"]
    assert subprocess.run(script, cwd=gone, env=dict(environ), capture_output=True, check=False).returncode == 0


def test_an_empty_folder(process, tmp_path: Path) -> None:
    for command in ("index", "serve"):
        _refused(process(command, tmp_path), "contains no files", code=2)
    assert list(tmp_path.iterdir()) == []


def test_a_refused_index_run_leaves_nothing(process, tmp_path: Path) -> None:
    bare, strange = tmp_path / "bare.git", tmp_path / os.fsdecode(b"shop\xff")
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    strange.mkdir()
    (strange / "a.py").write_text("def a():\n    pass\n")
    _refused(process("index", bare), "is a bare repository", code=2)
    _refused(process("index", strange), "is not UTF-8", "rename the directory", code=2)
    assert not (bare / ".graphmem").exists()
    assert [one.name for one in strange.iterdir()] == ["a.py"]


def test_broken_syntax_is_a_diagnostic_and_the_rest_is_indexed(graphmem, shop: Path) -> None:
    (shop / "shop" / "broken.py").write_text("def whole():\n    return 1\n\n\ndef half(:\n    return (\n")
    ran = graphmem("index", shop)
    assert ran.code == 0, ran.said
    assert "Diagnostics" in ran.out
    assert "shop/broken.py" in ran.out
    _still_answers(graphmem, shop)
    assert graphmem("symbol", "whole", "-q", cwd=shop).code == 0


def test_wrong_encodings_are_read_or_said(graphmem, shop: Path) -> None:
    (shop / "shop" / "latin.py").write_bytes(b"# caf\xe9\ndef latin():\n    return '\xe9'\n")
    (shop / "shop" / "nul.py").write_bytes(b"def nul():\n    return '\x00'\n")
    (shop / "shop" / "wide.py").write_bytes("def wide():\n    return 1\n".encode("utf-16"))
    ran = graphmem("index", shop)
    assert ran.code == 0, ran.said
    assert "Traceback" not in ran.said
    _still_answers(graphmem, shop)


def test_a_file_of_a_hundred_megabytes_is_counted_and_skipped(graphmem, shop: Path) -> None:
    with (shop / "shop" / "huge.py").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    ran = graphmem("index", shop)
    assert ran.code == 0, ran.said
    assert "skipped" in ran.out
    assert "too_large 1" in ran.out or "too large 1" in ran.out
    _still_answers(graphmem, shop)


def test_a_symlink_loop_ends(graphmem, shop: Path) -> None:
    (shop / "shop" / "again").symlink_to(shop, target_is_directory=True)
    (shop / "a").symlink_to(shop / "b")
    (shop / "b").symlink_to(shop / "a")
    ran = graphmem("index", shop)
    assert ran.code == 0, ran.said
    _still_answers(graphmem, shop)


def _without_roots_rights() -> list[str]:
    """Command line that starts `graphmem` without root's access to all files."""
    command = [sys.executable, "-m", "graphmem"]
    if os.geteuid() != 0:
        return command
    setpriv = shutil.which("setpriv")  # root reads everything, unless it gives up the right to
    if setpriv is None:
        pytest.skip("root reads everything, and setpriv is not there to take that right away")
    rights = "-dac_override,-dac_read_search"
    return [setpriv, f"--bounding-set={rights}", f"--inh-caps={rights}", *command]


def test_a_directory_without_read_rights_is_said_and_the_rest_is_indexed(graphmem, shop: Path, environ) -> None:
    command = [*_without_roots_rights(), "index", str(shop)]
    locked = shop / "locked"
    locked.mkdir()
    (locked / "secret.py").write_text("x = 1\n")
    locked.chmod(0)
    try:
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    finally:
        locked.chmod(0o755)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "locked" in done.stdout + done.stderr
    _still_answers(graphmem, shop)


def test_an_index_that_may_not_be_entered_or_written_is_said(graphmem, shop: Path, environ) -> None:
    assert graphmem("index", shop, "-q").code == 0
    kept = shop / ".graphmem"
    index, serve, impact = ["index", shop], ["serve", shop, "--port", "0"], ["impact", "rounded", "-C", shop]
    cases = ((kept, 0o000, "permissions", (index, serve, impact)), (kept / "graph.db", 0o444, "cannot be written to", (index, serve)))
    for locked, mode, why, commands in cases:
        before = locked.stat().st_mode
        locked.chmod(mode)
        try:
            for command in commands:
                done = subprocess.run(
                    [*_without_roots_rights(), *map(str, command)], env=environ, capture_output=True, text=True, check=False, timeout=60
                )
                ran = SimpleNamespace(code=done.returncode, err=done.stderr, said=done.stdout + done.stderr)
                _refused(ran, ".graphmem", why, code=2)
        finally:
            locked.chmod(before)
    _still_answers(graphmem, shop)


def test_a_project_that_cannot_be_written_to_says_where_else(graphmem, shop: Path) -> None:
    (shop / ".graphmem").write_text("a file in the way\n")
    _refused(graphmem("index", shop), "is a file", code=2)


def test_a_repository_without_git(graphmem, shop: Path) -> None:
    shutil.rmtree(shop / ".git")
    assert graphmem("index", shop, "-q").code == 0
    _still_answers(graphmem, shop)
    _refused(graphmem("impact", "--diff", cwd=shop), "is not under git", code=2)


def test_a_diff_in_a_file_is_said_how_to_give(graphmem, shop: Path) -> None:
    assert graphmem("index", shop, "-q").code == 0
    (shop / "change.diff").write_text("")
    _refused(graphmem("impact", "--diff", "change.diff", cwd=shop), "--diff - < change.diff", code=2)


def test_a_revision_that_is_not_there_is_named(graphmem, shop: Path) -> None:
    assert graphmem("index", shop, "-q").code == 0
    _refused(graphmem("impact", "--diff", "nosuch..HEAD", cwd=shop), "unknown revision 'nosuch'; use a commit, branch or tag", code=2)


def test_no_git_installed(graphmem, shop: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "bin"
    nothing.mkdir()
    assert graphmem("index", shop, "-q", PATH=str(nothing)).code == 0
    _still_answers(graphmem, shop)
    _refused(graphmem("impact", "--diff", cwd=shop, PATH=str(nothing)), "git", code=2)


def test_a_database_of_a_newer_version(graphmem, process, shop: Path) -> None:
    assert graphmem("index", shop, "-q").code == 0
    _with_newer_schema(shop / ".graphmem" / "graph.db")
    for args in (["impact", "rounded"], ["index", shop]):
        ran = process(*args, cwd=shop)
        _refused(ran, "newer")


def _with_newer_schema(path: Path) -> None:
    import kuzu

    database = kuzu.Database(str(path), buffer_pool_size=64 << 20, max_db_size=1 << 36)
    connection = kuzu.Connection(database)
    connection.execute(
        "CREATE (:SchemaVersion {version: 9999, name: 'from the future', sha256: '', applied_at: current_timestamp()})"
    ).close()
    connection.close()
    database.close()
    path.with_name(f"{path.name}.lock").unlink()  # a record of how this version left it, which a newer version would have written again


@pytest.mark.parametrize("keep", [0.5, 0.0])
def test_a_truncated_database_is_said_and_can_be_made_again(graphmem, process, shop: Path, keep: float) -> None:
    assert graphmem("index", shop, "-q").code == 0
    database = shop / ".graphmem" / "graph.db"
    os.truncate(database, int(database.stat().st_size * keep))
    ran = process("impact", "rounded", cwd=shop)
    assert ran.code == 1, ran.said
    assert "Traceback" not in ran.said
    assert len(ran.err.strip().splitlines()) == 1
    shutil.rmtree(shop / ".graphmem")
    assert graphmem("index", shop, "-q").code == 0
    _still_answers(graphmem, shop)


def _grow(shop: Path, part: str = "") -> None:
    """Add so many files that an index run takes a while."""
    source = NETWORKX / part
    shutil.copytree(source, shop / "networkx", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.mark.parametrize("command", ["index", "serve"])
def test_ctrl_c_while_indexing_leaves_the_previous_index(graphmem, shop: Path, environ, command: str) -> None:
    assert graphmem("index", shop, "-q").code == 0
    _grow(shop)
    args = [sys.executable, "-m", "graphmem", command, str(shop), *(["--port", "0"] if command == "serve" else [])]
    running = subprocess.Popen(
        args, env={**environ, "GRAPHMEM_WORKERS": "2"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert running.stderr is not None
    time.sleep(0.2)
    while running.poll() is None and not running.stderr.readline().startswith("finding files"):
        pass
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: every process of the group
    out, err = running.communicate(timeout=60)
    assert "Traceback" not in out + err
    if command == "index":
        assert running.returncode == 130, out + err
        assert len([line for line in err.splitlines() if "interrupted" in line]) == 1
    _still_answers(graphmem, shop)
    assert graphmem("symbol", "DiGraph", "-C", shop).code == 1


@pytest.mark.parametrize("where", ["graphmem.cli.main.run", "typer.core.TyperGroup.invoke", "graphmem.cli.context.load_settings"])
def test_ctrl_c_is_one_sentence_wherever_it_meets_the_command(where: str, environ) -> None:
    module, _, name = where.rpartition(".")
    owner = module if module.startswith("graphmem") else module.rpartition(".")[0]
    code = (
        f"import sys, {owner}\nfrom graphmem.__main__ import run\ndef interrupted(*_, **__): raise KeyboardInterrupt\n"
        f"{module}.{name} = interrupted\nsys.argv = ['graphmem', 'symbol', 'x']\nrun()"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED, "", "graphmem: interrupted\n")


def test_a_run_that_is_killed_leaves_the_previous_index(graphmem, shop: Path, environ) -> None:
    assert graphmem("index", shop, "-q").code == 0
    _grow(shop)
    running = subprocess.Popen(
        [sys.executable, "-m", "graphmem", "index", str(shop)], env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert running.stderr is not None
    while running.poll() is None and not running.stderr.readline().startswith("parsing"):
        pass
    running.kill()
    running.communicate(timeout=60)
    _still_answers(graphmem, shop)


@pytest.fixture
def small_disk(tmp_path: Path):
    """A file system of its own, so that it can be filled."""
    where = tmp_path / "disk"
    where.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", str(where)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("needs the right to mount a small file system, which only root has")
    yield where
    subprocess.run(["umount", "-l", str(where)], check=True)


def test_a_full_disk_is_said_and_leaves_the_previous_index(process, shop: Path, small_disk: Path) -> None:
    db = small_disk / "db"
    ran = process("index", shop, "--db", db)
    assert ran.code == 0, ran.said
    _grow(shop, "algorithms/approximation")
    ballast = small_disk / "ballast"
    free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
    ballast.write_bytes(bytes(free - (1 << 20)))
    full = process("index", shop, "--db", db, "-q")
    assert full.code == 1, full.said
    assert "Traceback" not in full.said
    assert any(word in full.err.lower() for word in ("disk", "room", "space")), full.err
    ballast.unlink()
    assert "shop/price.py:Price.total" in process("impact", "rounded", "-q", "--db", db).out
    assert process("index", shop, "--db", db, "-q").code == 0
    assert process("symbol", "min_maximal_matching", "-q", "--db", db).code == 0
