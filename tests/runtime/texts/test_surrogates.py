"""JSON from programs that cut texts inside an emoji."""

from __future__ import annotations

import json

import pytest

from graphmem.runtime.texts.surrogates import decoded


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a\\ud83d": ["x\\udc00", "\\ud83d\\ude00", 1.5, null]}', {"a\ufffd": ["x\ufffd", "\U0001f600", 1.5, None]}),
        ('"\ud83d\ude00 \ud83d"', "\U0001f600 \ufffd"),
        ('"\\\\ud83d é"', "\\ud83d é"),
    ],
)
def test_halves_of_a_pair_are_joined_or_replaced(text: str, value: object) -> None:
    assert decoded(text) == value
    json.dumps(decoded(text), ensure_ascii=False).encode()


@pytest.mark.parametrize("text", ["", "{", '"\\ud83d'])
def test_other_text_is_not_json(text: str) -> None:
    with pytest.raises(ValueError, match="line 1"):
        decoded(text)
