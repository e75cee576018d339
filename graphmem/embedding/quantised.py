"""The packaged embedding model, run with 8-bit integers in onnxruntime.

The model loads in a third of a second, where sentence-transformers takes six seconds, and needs a fifth of the memory. `prepare.py` makes
the computation graph once from the packaged weights, in its own process. The graph is stored with its hash.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphmem.embedding.base import F32, expect_finite
from graphmem.embedding.packaged import DIM, MODEL, SMALL, TOKENIZER
from graphmem.errors import EmbedderError

RECIPE: Final = 2  # of prepare.py; raise it when it makes another graph, whose vectors are not comparable
PREPARE_SECONDS: Final = 300.0

_RUN: Final = ("onnxruntime", "tokenizers")
_PREPARE: Final = ("onnx",)


def graph_file(folder: Path) -> Path:
    """Path of the prepared computation graph in a folder of models."""
    return folder / f"{MODEL}-int8-{RECIPE}.onnx"


def missing_for(folder: Path) -> list[str]:
    """Return the missing packages that are needed to run the graph.

    If the computation graph does not exist yet, packages that are needed to make it are included. The packages are looked up without
    importing them.
    """
    wanted = _RUN if graph_file(folder).with_suffix(".json").exists() else _RUN + _PREPARE
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    return missing + [one.distribution for one in (SMALL, TOKENIZER) if one.path() is None]


class QuantisedEmbedder:
    """The packaged model in int8. Thread-safe.

    If the computation graph does not exist, the first call makes it, in about three seconds.

    Args:
        folder: folder of the computation graph; projects and processes may share the folder.
        threads: number of processor threads that one call may use.
        max_tokens: number of tokens that the model reads of each string.
    """

    def __init__(self, folder: Path, *, threads: int = 1, max_tokens: int = 256) -> None:
        self._folder = folder
        self._threads = threads
        self._max_tokens = max_tokens
        self._session: Any = None
        self._tokenizer: Any = None
        self._lock = threading.Lock()

    @property
    def model_id(self) -> str:
        """Key of the vectors: model name, number format, version and token limit."""
        return f"{MODEL}-int8-{RECIPE}@{self._max_tokens}"

    @property
    def dim(self) -> int:
        """Length of every vector that the model computes."""
        return DIM

    @property
    def normalised(self) -> bool:
        """Whether vectors have unit length: always True, the model ensures it."""
        return True

    @property
    def is_parallel(self) -> bool:
        """Always True: several threads may encode texts at the same time."""
        return True

    @property
    def max_tokens(self) -> int:
        """Number of tokens that the model reads of each string."""
        return self._max_tokens

    @property
    def is_loaded(self) -> bool:
        """Whether the computation graph is already loaded."""
        return self._session is not None

    def unload(self) -> None:
        """Unload the model. The next call loads it again."""
        with self._lock:
            self._session = self._tokenizer = None

    def encode(self, texts: Sequence[str]) -> F32:
        """Return vectors of shape (len(texts), dim) and unit length.

        Each text is encoded separately. In a batch, values would be rounded to eight bits relative to the largest value of the whole batch,
        so a vector would depend on the other texts. A batch would also need padding (docs/decisions/0005-embedding-default.md).
        """
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        with self._lock:
            if self._session is None:
                self._load()
            session, tokenizer = self._session, self._tokenizer  # `unload` may come at any time
        vectors = np.empty((len(texts), self.dim), np.float32)
        for row, one in enumerate(tokenizer.encode_batch(list(texts))):
            ids = np.array([one.ids], np.int64)
            vectors[row] = session.run(None, {"input_ids": ids})[0][0]
        expect_finite(vectors, self.model_id)
        return vectors

    def _load(self) -> None:
        file = graph_file(self._folder)
        if not _is_whole(file):
            self._prepare(file)
        try:
            import onnxruntime
            import tokenizers
        except ImportError as error:
            raise EmbedderError(
                f"the Python package {error.name} is not installed; install {error.name}, or choose another model with the setting "
                "`embedder`",
                model=self.model_id,
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        tokenizer = tokenizers.Tokenizer.from_file(str(TOKENIZER.checked()))
        tokenizer.no_padding()  # the file asks for 128 tokens, always
        tokenizer.enable_truncation(self._max_tokens)
        self._tokenizer = tokenizer
        self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])

    def _prepare(self, file: Path) -> None:
        command = [sys.executable, "-P", "-m", "graphmem.embedding.prepare", str(file)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PREPARE_SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise EmbedderError(
                f"preparing the default embedding model took more than {PREPARE_SECONDS} s; try again, or set the setting `embedder` to "
                "hashed",
                model=self.model_id,
            ) from error
        if done.returncode or not _is_whole(file):
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise EmbedderError(
                f"the default embedding model could not be prepared ({reason}); set the setting `embedder` to hashed", model=self.model_id
            )


def _is_whole(file: Path) -> bool:
    """Whether the stored computation graph is undamaged and up to date.

    The graph must have been made from the expected weights.
    """
    try:
        facts = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
        with file.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
    except (OSError, ValueError):
        return False
    return isinstance(facts, dict) and facts.get("sha256") == found and facts.get("weights") == SMALL.sha256
