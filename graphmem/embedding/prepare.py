"""Convert the packaged model to an int8 graph for onnxruntime.

    python -m graphmem.embedding.prepare FILE

This runs once, in its own process, so that the memory of its libraries is freed. Pooling and scaling to unit length are part of the
graph. Running the graph needs only a tokenizer.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, Final

from graphmem.embedding.sentence import DEFAULT_MODEL, checked_folder

OPSET: Final = 17


def describe(file: Path) -> Path:
    """Path of the file with the hashes of a graph and of its weights."""
    return file.with_suffix(".json")


def prepare(file: Path) -> None:
    """Write the int8 graph and its description atomically.

    Raises:
        EmbedderError: the packaged weights are missing or not the published ones.
        OSError: a file cannot be written.
    """
    folder = checked_folder()
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        single, small = Path(scratch) / "float32.onnx", Path(scratch) / "int8.onnx"
        _export(folder, single)
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(str(single), str(small), weight_type=QuantType.QInt8, per_channel=True)
        with small.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
        facts = {"model": DEFAULT_MODEL.model_id, "weights": DEFAULT_MODEL.sha256, "sha256": found}
        note = Path(scratch) / "description.json"
        note.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
        small.replace(file)
        note.replace(describe(file))  # last: a file without its description is not used


def _export(folder: Path, out: Path) -> None:
    """Export the encoder with mean pooling and unit length.

    Batch size and text length are dynamic. Padding tokens are not pooled.
    """
    import torch
    from transformers import AutoModel

    class Encoder(torch.nn.Module):
        def __init__(self, model: Any) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            hidden = self.model(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=torch.zeros_like(input_ids)
            ).last_hidden_state
            real = attention_mask.unsqueeze(-1).to(hidden.dtype)
            return torch.nn.functional.normalize((hidden * real).sum(1) / real.sum(1).clamp(min=1e-9), dim=1)

    # The fused attention cannot be exported.
    model = AutoModel.from_pretrained(str(folder), local_files_only=True, attn_implementation="eager").eval()
    example = torch.ones(2, 8, dtype=torch.long)
    free = {0: "batch", 1: "length"}
    with torch.inference_mode():
        torch.onnx.export(
            Encoder(model),
            (example, example),
            str(out),
            dynamo=False,  # the newer exporter needs a package that is not among the dependencies
            opset_version=OPSET,
            input_names=["input_ids", "attention_mask"],
            output_names=["vector"],
            dynamic_axes={"input_ids": free, "attention_mask": free, "vector": {0: "batch"}},
        )


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
    warnings.simplefilter("ignore")  # of the exporter, about itself
    logging.disable(logging.WARNING)
    prepare(Path(sys.argv[1]))
