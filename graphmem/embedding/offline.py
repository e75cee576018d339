"""Keep the libraries that run models from using the network."""

from __future__ import annotations

import os


def forbid_downloads() -> None:
    """Let sentence-transformers use only models that are already on this disk.

    Call this before the library is imported, because the library reads the environment variables only when it is imported. Without these
    variables, the library would try to reach the model hub and wait.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
