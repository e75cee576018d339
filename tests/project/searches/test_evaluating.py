"""A project's own commits measure search; a person accepts weights, and undoes them."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime

import pytest

from graphmem import GraphMem
from graphmem.errors import BadInputError
from graphmem.project.searches.evaluating import churns
from graphmem.search.accepted import FILE, WeightBook
from graphmem.search.evaluate import with_factors
from graphmem.search.query.query_type import QUESTION, SEMANTIC
from graphmem.search.request import Tuning
from graphmem.settings import Settings

WORDS = ("cache", "price", "cart", "tax", "order", "ship")
DAY = 86_400
BUSY = 4  # files that nearly all commits change


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Twins of each file, of which one is changed again and again: only its churn tells them apart."""
    root = tmp_path_factory.mktemp("history")
    commits = [("Start", {f"{twin}_{word}.py": text(word) for word in WORDS for twin in "ab"})]
    for n in range(80):
        word = WORDS[n % BUSY]
        commits.append((f"Correct the {word} of value number {n}", {f"b_{word}.py": text(word, n)}))
    stream = []
    for n, (message, files) in enumerate(commits):
        stream += [
            "commit refs/heads/main",
            f"committer a <a@example.org> {1_700_000_000 + n * DAY} +0000",
            f"data {len(message)}",
            message,
        ]
        for path, content in files.items():
            stream += [f"M 644 inline {path}", f"data {len(content)}", content]
    for words, given in (
        (["init", "-qb", "main"], ""),
        (["fast-import", "--quiet"], "\n".join(stream) + "\n"),
        (["reset", "-q", "--hard"], ""),
    ):
        subprocess.run(["git", *words], cwd=root, check=True, timeout=60, input=given, text=True)
    return root


def text(word, n=0):
    return f"def {word}_one(value):\n    return value\n\n\ndef {word}_two(value):\n    return [value, {n}]\n"


@pytest.fixture(scope="module")
def index(tmp_path_factory, repository):
    folder = tmp_path_factory.mktemp("index")
    with opened(folder) as memory:
        memory.index(repository)
    return folder


def opened(folder):
    return GraphMem.open(folder, settings=Settings(embedder="none", workers=1, git_lessons=False))


def first(memory):
    return memory.search("Correct the cache of value", kinds={"code"}).hits[0].path


def test_weights_are_proposed_accepted_and_undone(index):
    with opened(index) as memory:
        found = memory.search_evaluation(commits=60)
        ways = {one.name: one for one in found.ways}
        assert found.commits == 60
        assert ways["proposed weights"].first > ways["built-in weights"].first
        proposed = {one.name: one.proposed for one in found.weights if one.proposed is not None}
        assert proposed["churn"]
        assert first(memory) == "a_cache.py"
        accepted = memory.choose_search_weights("proposed", commits=60)
        assert accepted.accepted_at
        assert first(memory) == "b_cache.py"
    with opened(index) as memory:
        assert first(memory) == "b_cache.py", "they outlive the process"
        memory.choose_search_weights("built-in")
        assert not (index / FILE).exists()
        assert first(memory) == "a_cache.py"


def test_questions_keep_the_built_in_weights(index):
    tuning = with_factors(Tuning(), {"churn": 2.0, "names": 0.5})
    assert tuning.weights[QUESTION] == Tuning().weights[QUESTION]
    assert tuning.weights[SEMANTIC].names == Tuning().weights[SEMANTIC].names / 2
    WeightBook(index).accept({"churn": 2.0}, datetime.now(UTC), 60)
    with opened(index) as memory:
        assert first(memory) == "b_cache.py"
        assert memory.search("how is the value of the cache made?", kinds={"code"}).hits[0].path == "a_cache.py"
        memory.choose_search_weights("built-in")


def test_churn_counts_only_changes_before_a_time(index):
    with opened(index) as memory:
        history = memory.parts.history.known()
        now, then, soon = churns(history, [float("inf"), min(history.at), min(history.at) + DAY])
        assert then == {}
        assert set(soon.values()) == {1.0}, "the first commit changed every file once"
        assert max(now.values()) == 1
        assert now["b_cache.py"] > now["a_cache.py"] > 0


def test_a_damaged_file_means_the_built_in_weights(index, caplog):
    (index / FILE).write_text('{"factors": {"churn": 99}}')
    with opened(index) as memory:
        assert first(memory) == "a_cache.py"
    (index / FILE).unlink(missing_ok=True)
    assert "the built-in weights of search are in force" in caplog.text


def test_a_project_without_history_gets_no_proposal(tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text("def a():\n    return 1\n")
    with opened(tmp_path / "index") as memory:
        memory.index(tmp_path / "tree")
        found = memory.search_evaluation()
        assert found.commits == 0
        assert "60 are needed" in found.notes[0]
        with pytest.raises(BadInputError, match="no search weights are proposed"):
            memory.choose_search_weights("proposed")
