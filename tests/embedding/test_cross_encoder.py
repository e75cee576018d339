"""A cross-encoder is optional: what it is not there for is said, and searches go on without it."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from graphmem.embedding.cross import CrossEncoderReranker
from graphmem.errors import EmbedderError
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

pytestmark = pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="sentence-transformers is not installed")

TEXTS = ["the cache is flushed", "trains are late", "bowls are fired twice"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A cross-encoder of a few thousand random numbers, really saved and really loaded."""
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("models") / "tiny"
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=40,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_labels=1,
        max_position_embeddings=64,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({word for text in TEXTS for word in text.split()}), "pottery"]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def test_each_text_gets_a_score_and_always_the_same(tiny):
    model = CrossEncoderReranker(str(tiny))
    scores = model.scores("pottery", TEXTS)
    assert len(scores) == 3
    assert all(0 <= score <= 1 for score in scores)
    assert model.scores("pottery", TEXTS) == scores
    assert model.scores("pottery", []) == []
    assert model.model_id == "tiny"


def test_a_model_that_is_not_there_is_an_error_that_names_it(tmp_path):
    with pytest.raises(EmbedderError, match="nowhere"):
        CrossEncoderReranker(str(tmp_path / "nowhere")).scores("a", ["b"])


def test_a_search_reads_again_when_configured_and_goes_on_when_it_cannot(tmp_path, tiny):
    for model, answered in ((str(tiny), True), (str(tmp_path / "nowhere"), False)):
        settings = Settings(embedder="hashed", reranker=model)
        with GraphMem.open(tmp_path / f"index-{answered}", settings=settings) as memory:
            for text in TEXTS:
                memory.remember(text, "fact")
            answer = memory.search("the cache", kinds={"memory"})
            assert len(answer.hits) == 3
            assert ("rerank" in answer.answered) is answered
            assert ("rerank" in answer.missing) is not answered
