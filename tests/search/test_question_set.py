"""The question set of the benchmarks follows its rules."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "question_set"
KINDS = {"how", "where", "why", "when", "option", "error", "name"}
FILES = sorted(FOLDER.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_repository_is_pinned_and_each_question_has_answers_of_its_kind(path):
    data = json.loads(path.read_text(encoding="utf-8"))
    assert re.fullmatch(r"[0-9a-f]{40}", data["revision"])
    assert data["half"] in ("learn", "check", "third")
    questions = data["questions"]
    assert {one["kind"] for one in questions} == KINDS
    assert len({one["question"] for one in questions}) == len(questions)
    for one in questions:
        assert one["answers"], one
        assert len(set(one["answers"])) == len(one["answers"]), one
        for answer in one["answers"]:
            assert not answer.startswith("/"), one
            assert not data["folders"] or answer.startswith(tuple(f"{folder}/" for folder in data["folders"])), one


def test_each_half_has_eight_repositories_and_the_third_group_three():
    assert Counter(json.loads(path.read_text(encoding="utf-8"))["half"] for path in FILES) == {"learn": 8, "check": 8, "third": 3}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_answer_was_named_by_one_of_two_readings(path):
    judged = json.loads((FOLDER.parent / "question_judgements.json").read_text(encoding="utf-8"))[path.stem]
    for one in json.loads(path.read_text(encoding="utf-8"))["questions"]:
        read = judged[one["question"]]
        assert set(read["both"]) <= set(one["answers"]) <= {*read["both"], *read["first"], *read["second"]}, one


def test_a_question_does_not_give_the_answer_away():
    """Only an error text or two words of a name may contain an answer's name, if the name is more than one word."""
    for path in FILES:
        for one in json.loads(path.read_text(encoding="utf-8"))["questions"]:
            if one["kind"] in ("error", "name"):
                continue
            for answer in one["answers"]:
                name = answer.rpartition("::")[2].rpartition(".")[2]
                if re.search(r"[a-z0-9][A-Z]|\w_\w", name):
                    assert name.casefold() not in one["question"].casefold(), one
