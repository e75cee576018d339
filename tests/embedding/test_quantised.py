"""The packaged model as an int8 graph: made once, checked, close to the model it was made from."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from graphmem.embedding import quantised
from graphmem.embedding.choose import choose
from graphmem.embedding.quantised import QuantisedEmbedder, graph_file, missing_for
from graphmem.embedding.sentence import SentenceEmbedder
from graphmem.errors import EmbedderError

TEXTS = [
    "def save_session(request): request.session.save()",
    "class Parser:\n    def parse(self, text):\n        return self.tokens(text)",
    "The colour of the button",
    "größe 测试 данные",
    "reads the configuration of the server " * 60,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a prepared graph."""
    made = tmp_path_factory.mktemp("models")
    missing = missing_for(made)
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    QuantisedEmbedder(made).encode(["x"])
    return made


@pytest.mark.model
@pytest.mark.slow
def test_the_graph_is_near_the_model_and_ranks_as_it_does(folder):
    small, whole = QuantisedEmbedder(folder).encode(TEXTS), SentenceEmbedder().encode(TEXTS)
    assert small.shape == whole.shape
    assert small.dtype == np.float32
    assert np.linalg.norm(small, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert (small * whole).sum(axis=1).min() > 0.97
    question = "persist the session"
    ranks = [
        np.argsort(-(vectors @ embedder.encode([question])[0]))[0]
        for vectors, embedder in ((small, QuantisedEmbedder(folder)), (whole, SentenceEmbedder()))
    ]
    assert ranks == [0, 0]


@pytest.mark.model
@pytest.mark.slow
def test_a_vector_depends_on_its_text_alone_and_not_on_those_it_is_asked_for_with(folder):
    embedder = QuantisedEmbedder(folder)
    alone = np.concatenate([embedder.encode([text]) for text in TEXTS])
    assert np.array_equal(embedder.encode(TEXTS), alone)
    assert np.array_equal(embedder.encode(TEXTS[::-1]), alone[::-1])


@pytest.mark.model
@pytest.mark.slow
def test_a_prepared_graph_is_used_again_without_the_libraries_that_made_it(folder, monkeypatch):
    def never(*args, **options):
        raise AssertionError("prepared again")

    monkeypatch.setattr(quantised.subprocess, "run", never)
    choice = choose(folder=folder)
    assert isinstance(choice.embedder, QuantisedEmbedder)
    assert choice.embedder.encode(["x"]).shape == (1, 384)
    assert choice.embedder.encode([]).shape == (0, 384)
    monkeypatch.undo()
    code = (
        "import sys, pathlib; from graphmem.embedding.quantised import QuantisedEmbedder as Q; "
        f"Q(pathlib.Path({str(folder)!r})).encode(['x']); "
        "sys.stdout.write(','.join(m for m in ('torch', 'transformers') if m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == ""


@pytest.mark.model
@pytest.mark.slow
def test_a_graph_that_was_changed_is_not_trusted(folder, monkeypatch):
    file = graph_file(folder)
    whole = file.read_bytes()
    asked = []

    def refuse(command, **options):
        asked.append(command)
        return subprocess.CompletedProcess(command, 1, "", "Traceback\nOSError: no space left")

    monkeypatch.setattr(quantised.subprocess, "run", refuse)
    try:
        file.write_bytes(whole[:-1] + b"\0")
        with pytest.raises(EmbedderError, match="no space left"):
            QuantisedEmbedder(folder).encode(["x"])
        assert asked
    finally:
        file.write_bytes(whole)


def test_without_a_folder_or_a_runtime_the_next_best_is_chosen(tmp_path, monkeypatch):
    assert not isinstance(choose().embedder, QuantisedEmbedder)
    find = quantised.importlib.util.find_spec
    monkeypatch.setattr(quantised.importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else find(name))
    assert "onnxruntime" in missing_for(tmp_path)
    assert not isinstance(choose(folder=tmp_path).embedder, QuantisedEmbedder)
