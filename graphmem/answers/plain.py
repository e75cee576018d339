"""An answer as plain values: what `--json` prints and what the Python client rebuilds."""

from __future__ import annotations

import dataclasses
from typing import Any


def to_json(answer: Any) -> Any:
    """Dataclasses, lists and dicts as plain JSON values; field order is kept."""
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        return {f.name: to_json(getattr(answer, f.name)) for f in dataclasses.fields(answer)}
    if isinstance(answer, (list, tuple)):
        return [to_json(item) for item in answer]
    if isinstance(answer, dict):
        return {str(key): to_json(value) for key, value in answer.items()}
    return answer
