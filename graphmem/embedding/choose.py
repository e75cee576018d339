"""Choose an embedding model that the installed packages can run.

This module imports and downloads no packages or models.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Final, NamedTuple

from graphmem.embedding.base import Embedder
from graphmem.embedding.hashed import HashedEmbedder
from graphmem.embedding.packaged import FULL, MODEL
from graphmem.embedding.quantised import QuantisedEmbedder, missing_for
from graphmem.embedding.sentence import SentenceEmbedder
from graphmem.embedding.served import PROTOCOLS, ServedEmbedder
from graphmem.errors import SettingsError

_HASHED: Final = re.compile(r"hashed-words-(\d+)")
SETTINGS = ("auto", "sentence-transformers", "hashed", *PROTOCOLS, "none")
_SERVED: Final = re.compile(rf"(?P<protocol>{'|'.join(PROTOCOLS)}):(?P<host>[^/]+)/(?P<model>.+)@(?P<prefix>\d+)")


class Server(NamedTuple):
    """The configured embedding server and its model."""

    url: str = ""
    model: str = ""
    key: str = ""
    prefix: int = 0
    seconds: float = 20.0


NO_SERVER: Final = Server()


class Choice(NamedTuple):
    """The chosen embedder (or None), and one sentence with the reason."""

    embedder: Embedder | None
    reason: str  # one sentence for `doctor` and for the answers of a search


def choose(setting: str = "auto", model: str = "", *, folder: Path | None = None, threads: int = 1, server: Server = NO_SERVER) -> Choice:
    """Choose the embedder that a setting names, or the first available one.

    With "auto" and a given `model`, this model is chosen. With "auto" and no `model`, the first available one of these is chosen:

    - the packaged model as a prepared int8 graph
    - the packaged model with sentence-transformers
    - hashed features

    Args:
        setting: auto, sentence-transformers, hashed, openai, ollama or none.
        model: folder or cached name of a sentence-transformers model; "" for the packaged one.
        folder: folder of prepared graphs; without it, no prepared graph is used.
        threads: number of processor threads that one call may use.
        server: the server of "openai" and "ollama". Its `prefix` is also used for a given `model`.

    Raises:
        SettingsError: the setting is unknown, it needs a package that is not installed, or it needs a server and none is configured.
    """
    if setting not in SETTINGS:
        raise SettingsError(f"the setting embedder is {setting!r}; use one of {', '.join(SETTINGS)}", setting="embedder", value=setting)
    if setting == "none":
        return Choice(None, "embedding is switched off")
    if setting == "hashed":
        return Choice(HashedEmbedder(), "hashed features, as configured: no model")
    if setting in PROTOCOLS:
        served = ServedEmbedder(setting, *server[:3], prefix=server.prefix, timeout_s=server.seconds)
        return Choice(served, f"{server.model} of the server at {served.host}, as configured")
    if setting == "auto" and not model and folder is not None and not missing_for(folder):
        return Choice(QuantisedEmbedder(folder, threads=threads), f"{MODEL} in int8, prepared from an installed package")
    library = importlib.util.find_spec("sentence_transformers") is not None
    if library and model:
        return Choice(SentenceEmbedder(model, threads=threads, prefix=server.prefix), f"{model}, as configured")
    if library and FULL.path() is not None:
        return Choice(SentenceEmbedder(threads=threads), f"{MODEL} from an installed package")
    missing = "sentence-transformers" if not library else FULL.distribution
    if setting == "sentence-transformers" or model:
        said = f"{missing} is not installed; install graphmem[models], or set embedder to auto"
        raise SettingsError(said, setting="embedder", value=setting, missing=missing)
    wanted = " and ".join(missing_for(folder)) if folder is not None else missing
    return Choice(HashedEmbedder(), f"hashed features, because {wanted} is not installed")


def for_model(
    model_id: str, model: str = "", *, folder: Path | None = None, threads: int = 1, server: Server = NO_SERVER
) -> Embedder | None:
    """Return an embedder for vectors that are stored under a model id.

    The model is not loaded. The available models are the installed ones, `model`, and the models of `server`. The result is None if none of
    them has this id.

    Args:
        model_id: the embedder's `model_id`.
        model: folder or cached name of the model, if known.
        folder: folder of prepared graphs.
        threads: number of processor threads that one call may use.
        server: the configured server; used only if `model_id` names the same host.
    """
    if served := _SERVED.fullmatch(model_id):
        if not server.url:
            return None
        made = ServedEmbedder(
            served["protocol"], server.url, served["model"], server.key, prefix=int(served["prefix"]), timeout_s=server.seconds
        )
        return made if made.model_id == model_id else None
    if found := _HASHED.fullmatch(model_id):
        return HashedEmbedder(int(found[1]))
    named, _, read = model_id.rpartition("@")
    if not read.isdecimal():
        return None
    used = named.rpartition("/")[2]
    prefix = int(used) if "/" in named and used.isdecimal() else 0
    known: list[Embedder] = []
    if folder is not None and not missing_for(folder):
        known.append(QuantisedEmbedder(folder, threads=threads, max_tokens=int(read)))
    if importlib.util.find_spec("sentence_transformers") is not None:
        known += [SentenceEmbedder(threads=threads, max_tokens=int(read))] if FULL.path() is not None else []
        known += [SentenceEmbedder(model, threads=threads, max_tokens=int(read), prefix=prefix)] if model else []
    return next((one for one in known if one.model_id == model_id), None)
