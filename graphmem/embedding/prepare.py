"""Convert the packaged model to a graph that multiplies 8-bit integers.

    python -m graphmem.embedding.prepare FILE

The packaged file has 8-bit weights, but its computation graph multiplies them as floats. With onnxruntime's dynamic quantisation, a vector
takes half the time. Mean pooling and scaling to unit length become part of the graph. The attention mask is removed, because each text is
encoded separately and has no padding. Without the mask, a vector takes 15 % less time. The conversion runs once, in a separate process,
whose memory is then released.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphmem.embedding.packaged import DIM, MODEL, SMALL

_IDS: Final = "input_ids"
_HIDDEN: Final = "last_hidden_state"  # of the packaged graph: one vector for each token
_OUT: Final = "vector"


def describe(file: Path) -> Path:
    """Return the path of the JSON file that describes a prepared model file.

    `file` is the prepared model file, made by `prepare`. The JSON file has the hash of the model file, and the hash of the published
    weights from which the model file was made.
    """
    return file.with_suffix(".json")


def prepare(file: Path) -> None:
    """Make the 8-bit computation graph and write it to `file`, atomically.

    A description of the graph is written next to it; see `describe`.

    Raises:
        EmbedderError: the packaged weights are missing, or differ from the published weights.
        OSError: a file cannot be written.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    weights = SMALL.checked()
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        single, small = Path(scratch) / "float32.onnx", Path(scratch) / "int8.onnx"
        onnx.save(_encoder(onnx.load(str(weights))), str(single))
        quantize_dynamic(str(single), str(small), weight_type=QuantType.QInt8, per_channel=True)
        with small.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
        facts = {"model": MODEL, "weights": SMALL.sha256, "sha256": found}
        note = Path(scratch) / "description.json"
        note.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
        small.replace(file)
        note.replace(describe(file))  # last: a file without its description is not used


def _encoder(model: Any) -> Any:
    """Build the computation graph that maps token ids to a unit vector.

    The graph uses single precision. The ids have the shape (1, tokens), and the vector has the shape (1, DIM).
    """
    from onnx import TensorProto, helper, numpy_helper

    constants = {one.name: one for one in model.graph.initializer}
    nodes, weights = _with_whole_weights(list(model.graph.node), constants)
    _drop_mask(nodes)
    nodes.insert(0, helper.make_node("Sub", [_IDS, _IDS], ["token_type_ids"]))  # zeros: one text, not a pair
    nodes.append(helper.make_node("ReduceSum", [_HIDDEN, "tokens"], ["sum"], keepdims=0))
    nodes.append(helper.make_node("LpNormalization", ["sum"], [_OUT], axis=1, p=2))  # the mean has the direction of the sum
    weights["tokens"] = np.array([1], np.int64)  # the axis
    nodes, used = _needed(nodes, _OUT)
    kept = [one for name, one in constants.items() if name in used and name not in weights]
    graph = helper.make_graph(
        nodes,
        MODEL,
        [one for one in model.graph.input if one.name == _IDS],
        [helper.make_tensor_value_info(_OUT, TensorProto.FLOAT, ["batch", DIM])],
        [*kept, *(numpy_helper.from_array(array, name) for name, array in weights.items() if name in used)],
    )
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


def _with_whole_weights(nodes: list[Any], constants: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Scale the weights once, so that the model need not do it for each text.

    The packaged graph stores 8-bit weights in `constants`. Its nodes cast the weights to floats and multiply them by a scale.

    Returns:
        The nodes without these casts and multiplications. Then the scaled weights, by name.
    """
    from onnx import TensorProto, numpy_helper

    rest: list[Any] = []
    weights: dict[str, Any] = {}
    for node in nodes:
        first = node.input[0] if node.input else ""
        if node.op_type == "Cast" and first in constants and constants[first].data_type == TensorProto.INT8:
            weights[node.output[0]] = numpy_helper.to_array(constants[first]).astype(np.float32)
        elif node.op_type == "Mul" and first in weights and node.input[1] in constants:
            weights[node.output[0]] = weights[first] * numpy_helper.to_array(constants[node.input[1]])
        else:
            rest.append(node)
    return rest, weights


def _drop_mask(nodes: list[Any]) -> None:
    """Remove the attention mask, which hides padding, from the graph.

    Softmax then reads the scores without the mask. The packaged graph also replaces NaN, which fully masked tokens cause. No NaN occurs
    without a mask, so this replacement is removed, too.
    """
    by_output = {name: node for node in nodes for name in node.output}
    plain: dict[str, str] = {}
    for node in nodes:
        made = by_output.get(node.input[0]) if node.input else None
        if node.op_type == "Softmax" and made is not None and made.op_type == "Add":
            node.input[0] = next(name for name in made.input if name in by_output and by_output[name].op_type == "MatMul")
        elif node.op_type == "Where" and made is not None and made.op_type == "IsNaN":
            plain[node.output[0]] = node.input[2]
    for node in nodes:
        for at, name in enumerate(node.input):
            node.input[at] = plain.get(name, name)


def _needed(nodes: list[Any], output: str) -> tuple[list[Any], set[str]]:
    """Return the nodes on which `output` depends, and the names they read.

    The nodes stay in their order. `output` is added to the names.
    """
    used = {output}
    kept: list[Any] = []
    for node in reversed(nodes):
        if not used.isdisjoint(node.output):
            kept.append(node)
            used.update(node.input)
    return kept[::-1], used


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # of the quantiser, which recommends a step that changes nothing here
    prepare(Path(sys.argv[1]))
