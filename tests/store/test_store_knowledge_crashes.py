"""Acknowledged memories survive a crash or a full disk.

Others are there whole or not at all.
"""

from __future__ import annotations

import random

import pytest

from graphmem.knowledge import KnowledgeDelta

ROUNDS = 50
TEARS = 10

# One process imports everything and forks: a writer, which is killed, and then a reader, which looks.
# The examination in a process of its own that an open after a crash begins with is left out: it is tested by itself
# (store/file/test_files) and would take most of the time here.
KILLING = """
    import os, random, signal, time
    from graphmem.knowledge import KnowledgeDelta, LearntRow, NamedFile, RelatesRow, AboutRow
    from graphmem.store.file import opening
    opening._after_crash = lambda *_: []

    def change(number):
        names = [f"m{{number:04}}-{{at}}" for at in range(3)]
        rows = [suite.memory(name) for name in names]
        old = f"m{{number - 1:04}}-0"
        file = NamedFile(f"f{{number:04}}", f"src/{{number}}.py")
        if number > 1:
            rows.append(suite.memory(old, strength=number, tags=(), content="changed", text_hash=f"changed {{number}}"))
        return KnowledgeDelta(
            memories=rows,
            removed_memories=[f"m{{number - 2:04}}-1"] if number > 2 else [],
            anchored=names,
            about=[AboutRow(name, file.id, "File", "about", 1.0, "", "", "orphaned") for name in names],
            files=[file],
            relates=[RelatesRow(names[0], name, "derived_from", 0.5, True) for name in names[1:]],
            sessions=[suite.session(f"s{{number % 3}}", title=str(number))],
            learnt=[LearntRow(name, f"s{{number % 3}}", 0, number) for name in names],
        )

    def expected(generation):
        memories, of_memories, sessions = {{}}, {{}}, {{}}
        for number in range(1, generation + 1):
            one = change(number)
            for name in one.removed_memories:
                del memories[name], of_memories[name]
            memories.update((row.id, row) for row in one.memories)
            for row in one.about:
                of_memories[row.memory_id] = ([row], [], [])
            for row in one.relates:
                of_memories[row[1]][1].append(row)  # the source of a relation is never removed
            sessions.update((row.id, row) for row in one.sessions)
            for row in one.learnt:
                of_memories[row.memory_id][2].append(row)
        about, relates, learnt = (sorted(row for part in of_memories.values() for row in part[at]) for at in range(3))
        return [memories[key] for key in sorted(memories)], about, relates, [sessions[key] for key in sorted(sessions)], learnt

    def write(out):
        store = reopen()
        while True:
            number = store.knowledge_generation() + 1
            delta = change(number)
            generation = store.apply_knowledge(delta, suite.vectors_of(delta.memories), {{"memory.position": str(number)}})
            os.write(out, b"%d\\n" % generation)
            if generation % 4 == 0:
                store.checkpoint()

    def look(acknowledged):
        store = reopen()
        generation = store.knowledge_generation()
        assert acknowledged <= generation <= acknowledged + 1, (acknowledged, generation)
        assert store.knowledge()[1:] == expected(generation)
        assert store.meta() == ({{"memory.position": str(generation)}} if generation else {{}})
        texts = sorted({{row.text_hash for row in store.knowledge().memories}})
        assert store.vectors(suite.MODEL)["text_hash"].to_pylist() == texts
        assert store.notes == []
        os._exit(0)  # without closing: the log is replayed once more

    reopen().close()
    moments, acknowledged = random.Random(11), 0
    for turn in range({rounds}):
        into, out = os.pipe()
        writer = os.fork()
        if not writer:
            os.close(into)
            write(out)
        os.close(out)
        said = os.read(into, 1 << 16)  # it has begun
        time.sleep(moments.uniform(0.0, 0.15))
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        while more := os.read(into, 1 << 16):
            said += more
        os.close(into)
        acknowledged = max([acknowledged, *map(int, said.split())])
        reader = os.fork()
        if not reader:
            try:
                look(acknowledged)
            finally:
                import traceback
                traceback.print_exc()
                os._exit(1)
        if os.waitpid(reader, 0)[1]:
            sys.exit("what was found is not what was written")
    say(turn + 1, acknowledged)
"""


@pytest.mark.slow
def test_a_process_killed_fifty_times_while_it_remembers_loses_nothing_and_halves_nothing(child):
    process = child(KILLING.format(rounds=ROUNDS))
    code, out, err = process.end(240)
    assert code == 0, err
    rounds, written = map(int, out.split())
    assert rounds == ROUNDS
    assert written >= ROUNDS


@pytest.mark.slow
def test_a_large_change_torn_anywhere_takes_nothing_before_it_along(child, path, open_at, make):
    """The engines die on about one in six of such logs; what was committed before is in front of the tear."""
    process = child("""
        import os, shutil
        from graphmem.knowledge import KnowledgeDelta
        store = reopen()
        store.apply(suite.World(1).full())
        first = [suite.memory(f"a{at:03}") for at in range(40)]
        store.apply_knowledge(KnowledgeDelta(memories=first), suite.vectors_of(first))
        shutil.copy(path + ".lock", path + ".before")
        say(os.path.getsize(path + ".wal"))
        more = [suite.memory(f"b{at:04}", content="word " * 400) for at in range(2000)]
        store.apply_knowledge(KnowledgeDelta(memories=more), suite.vectors_of(more))
        os._exit(0)
    """)
    whole = int(process.line())
    assert process.end()[0] == 0
    database, lock, log = (path.with_name(f"graph.db{suffix}").read_bytes() for suffix in ("", ".before", ".wal"))
    first = [make.memory(f"a{at:03}") for at in range(40)]
    moments, dead = random.Random(3), 0
    for turn in range(TEARS):
        torn = path.with_name(f"torn{turn}.db")
        torn.write_bytes(database)
        torn.with_name(torn.name + ".lock").write_bytes(lock)
        torn.with_name(torn.name + ".wal").write_bytes(log[: moments.randrange(whole + 1, len(log))])
        store = open_at(torn)
        assert store.knowledge().memories == first
        assert store.vectors(make.model).equals(make.vectors(first))
        assert store.knowledge_generation() == 1
        if store.notes:
            dead += 1
            assert "cut off" in store.notes[0]
            assert list(path.parent.glob(f"{torn.name}*.quarantine"))
        store.apply_knowledge(KnowledgeDelta(memories=[make.memory("later")]))
        store.close()
        assert len(open_at(torn).knowledge().memories) == len(first) + 1
    assert dead  # or the engine has learnt to survive them, and this whole way round can go


def test_a_full_disk_refuses_a_memory_and_keeps_the_others(child):
    process = child("""
        import resource
        files.soft_limit = lambda which: None  # so that the engine itself meets the refusal
        from graphmem.knowledge import KnowledgeDelta
        store = reopen()
        store.apply(suite.World(1).full())
        first = [suite.memory(f"a{at:03}") for at in range(40)]
        store.apply_knowledge(KnowledgeDelta(memories=first), suite.vectors_of(first))
        before = store.knowledge()
        vectors = store.vectors(suite.MODEL)
        more = [suite.memory(f"b{at:04}", content="word " * 400) for at in range(2000)]
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        for size in (4_096, 40_000, 200_000, 1_000_000):
            for rows in (more[:1], more):
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
                try:
                    store.apply_knowledge(KnowledgeDelta(memories=rows), suite.vectors_of(rows), {"memory.position": "1"})
                except (DiskFullError, ResourceError):
                    say("full")
                else:
                    say("fitted")
                    store.apply_knowledge(KnowledgeDelta(removed_memories=[row.id for row in rows]))
                finally:
                    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
                assert store.knowledge()[1:] == before[1:]
                assert store.vectors(suite.MODEL).equals(vectors)
        store.apply_knowledge(KnowledgeDelta(memories=more), suite.vectors_of(more))
        store.close()
        store = reopen()
        assert store.knowledge().memories == [*first, *more]
        suite.check_equal(store, suite.World(1))
        store.close()
        say("closed")
    """)
    code, out, err = process.end()
    assert code == 0, err
    said = out.split()
    assert said.count("full") >= 4
    assert said[-1] == "closed"
