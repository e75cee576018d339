"""Budgets hold whatever is packed, and what does not fit is said."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.errors import BadInputError
from graphmem.injection.budgets import PHASE_SHARES, SECTIONS, Budget, budget_for
from graphmem.injection.formats import FORMATS, XmlFormat
from graphmem.injection.items import Item, distinct
from graphmem.injection.packing import MAX_OF_SESSION, MAX_PINNED, MAX_RETRIEVED, choose, merged, pack
from graphmem.injection.tokens import count_tokens, is_exact
from graphmem.memory.texts.types import TYPES

TABLE = [  # the specification's, row by row
    (100_000, Budget(5_000, 400, 2_300, 1_500, 600)),
    (50_000, Budget(4_000, 320, 1_840, 1_196, 600)),
    (20_000, Budget(1_600, 200, 700, 500, 200)),
    (8_000, Budget(640, 200, 500, 300, 200)),
]

texts = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1, max_size=200)


@st.composite
def items(draw):
    kind = draw(st.sampled_from(["memory", "memory", "code", "rule", "summary", "note"]))
    text = draw(texts)
    return Item(
        section=draw(st.sampled_from(SECTIONS)),
        kind=kind,
        id=str(draw(st.integers(0, 10_000))),
        short_id="a1b2",
        text=text,
        type=draw(st.sampled_from(sorted(TYPES))) if kind == "memory" else "",
        title=text[:40],
        citation=text[:60],
        path=draw(st.sampled_from(["", "a.py", "pkg/b.py"])) if kind == "code" else "",
        start_line=draw(st.integers(0, 50)),
        end_line=draw(st.integers(50, 90)),
        score=draw(st.floats(0, 2)),
        pinned=draw(st.booleans()) and kind == "memory",
        session=draw(st.sampled_from(["", "s1", "s2"])),
        untrusted=draw(st.booleans()),
        conflicts=draw(st.sampled_from([(), (("a1b2", "c3d4", text[:20]),)])),
    )


def memory(one: str, score: float = 1.0, **changes) -> Item:
    row = Item(
        "retrieval", "memory", one, f"Memory {one} says something.", "gotcha", f"Memory {one}", f"Memory {one}", score=score, short_id=one
    )
    return row._replace(**changes)


@pytest.mark.parametrize(("remaining", "budget"), TABLE)
def test_budgets_are_those_of_the_table(remaining, budget):
    assert budget_for(remaining) == budget


@given(st.integers(0, 10_000_000))
def test_a_budget_is_at_most_eight_percent_and_5000(remaining):
    budget = budget_for(remaining)
    assert budget.total <= 5_000
    assert budget.total <= remaining * 0.08
    more = budget_for(remaining + 1_000)
    assert all(a <= b for a, b in zip(budget, more, strict=True))


@pytest.mark.parametrize("remaining", [-1, True, 1e9, 10**12])
def test_a_number_of_tokens_that_cannot_be_is_refused(remaining):
    with pytest.raises(BadInputError, match="remaining"):
        budget_for(remaining)


def test_the_vocabulary_is_there_and_counts_lines_apart():
    assert is_exact()
    assert count_tokens("") == 0
    one, two = "def resolve(self, name):", "    return self.names[name]"
    assert count_tokens(f"{one}\n{two}") == count_tokens(one) + count_tokens(two) + 1


def test_words_the_vocabulary_does_not_know_count_their_bytes():
    assert count_tokens("𓀀𓀁") >= len("𓀀𓀁".encode())
    assert count_tokens("x" * 5_000) >= 1_000


@settings(max_examples=60)
@given(
    st.lists(items(), max_size=25),
    st.integers(0, 1_500),
    st.sampled_from(["", *PHASE_SHARES]),
    st.sampled_from(sorted(FORMATS)),
    st.booleans(),
)
def test_no_text_is_ever_larger_than_its_budget(found, total, phase, form, asked):
    found = distinct(found)
    budget = Budget(total, total // 2, total, total // 2, total // 4)
    packed = pack(found, budget, FORMATS[form], count_tokens, phase, explicit=asked)
    assert packed.tokens == count_tokens(packed.text) <= total
    assert {one.id for one in packed.items} <= {one.id for one in found}
    assert pack(list(reversed(found)), budget, FORMATS[form], count_tokens, phase, explicit=asked).tokens <= total


@settings(max_examples=60)
@given(st.lists(items().filter(lambda one: one.kind != "code"), max_size=25), st.integers(0, 1_000))
def test_every_item_is_shown_or_counted(found, total):
    found = distinct(found)
    packed = pack(found, Budget(total, total, total, total, total), FORMATS["markdown"], count_tokens)
    assert len(packed.items) + sum(packed.left_out.values()) == len(found)


def test_when_it_is_tight_the_sections_are_served_in_order():
    found = [memory(str(n))._replace(section=section) for n, section in enumerate(reversed(SECTIONS))]
    room = count_tokens(XmlFormat().write([found[-1]])) + 2
    packed = pack(found, Budget(room, room, room, room, room), XmlFormat(), count_tokens)
    assert [one.section for one in packed.items] == ["always"]
    assert packed.left_out == {"no room": 3}


def test_of_what_was_found_the_best_few_are_chosen():
    ranked = [memory(f"m{n:02}", score=1 - n / 100, session="one" if n < 4 else f"s{n}") for n in range(20)]
    pins = [memory(f"p{n}", score=0.1, pinned=True) for n in range(7)]
    tally = Counter()
    chosen = choose([*ranked, *pins], tally)
    assert [one.pinned for one in chosen].count(True) == MAX_PINNED
    others = [one for one in chosen if not one.pinned]
    assert len(others) == MAX_RETRIEVED
    assert sum(one.session == "one" for one in others) == MAX_OF_SESSION
    assert tally["among the worst results"] == 6
    assert len(chosen) + sum(tally.values()) == 27


def test_the_phase_divides_the_room_among_types():
    gotchas = [memory(f"g{n}", 0.9 - n / 100, text=" ".join(["trap"] * 60)) for n in range(3)]
    pattern = memory("e1", 0.1, type="error_pattern", text=" ".join(["error"] * 30))
    padding = [memory(f"x{n}", 0.0, type="fact") for n in range(2)]
    each = FORMATS["text"].cost(gotchas[0], count_tokens)
    room = 2 * each + FORMATS["text"].cost(pattern, count_tokens) + 60
    budget = Budget(5_000, 0, 0, room, 0)
    shown = {one.id for one in pack([*gotchas, pattern, *padding], budget, FORMATS["text"], count_tokens, "validate").items}
    assert "e1" in shown  # has a share of its own though it is the worst found
    by_score = {one.id for one in pack([*gotchas, pattern, *padding], budget, FORMATS["text"], count_tokens).items}
    assert "g1" in by_score


def code(start: int, end: int, score: float = 1.0, path: str = "a.py") -> Item:
    text = "\n".join(f"line {n}" for n in range(start, end + 1))
    return Item("retrieval", "code", f"{path}:{start}", text, path=path, start_line=start, end_line=end, score=score)


def test_pieces_of_code_that_overlap_or_touch_become_one():
    (one, apart) = merged([code(11, 20), code(1, 12, 3.0), code(21, 25), code(40, 41)])
    assert (one.start_line, one.end_line, one.score) == (1, 25, 3.0)
    assert one.text.split("\n") == [f"line {n}" for n in range(1, 26)]
    assert (apart.start_line, apart.end_line) == (40, 41)


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 20), st.sampled_from("ab")), max_size=12))
def test_merging_loses_no_line_and_repeats_none(spans):
    pieces = [code(start, start + more, path=path) for start, more, path in spans]
    lines = Counter()
    for one in merged(pieces):
        for n, text in enumerate(one.text.split("\n"), one.start_line):
            assert text == f"line {n}"
            lines[one.path, n] += 1
    assert lines == Counter({(one.path, n): 1 for one in pieces for n in range(one.start_line, one.end_line + 1)})


def test_code_that_is_too_long_is_cut_and_says_so_and_a_memory_never_is():
    long = code(1, 200)
    packed = pack([long], Budget(200, 0, 0, 200, 0), FORMATS["text"], count_tokens, explicit=True)
    assert packed.cut == [long.id]
    assert "more lines" in packed.text
    assert packed.items[0].end_line < 200
    first, second = pack([long, code(1, 3, 0.5, "b.py")], Budget(400, 0, 0, 400, 0), FORMATS["text"], count_tokens, explicit=True).items
    assert (first.path, second.path) == ("a.py", "b.py")  # a long one leaves room for others
    said = memory("m1", text="Never call it. " * 200)
    packed = pack([said], Budget(200, 0, 0, 200, 0), FORMATS["text"], count_tokens, explicit=True)
    assert (packed.text, packed.left_out) == ("", {"no room": 1})


def test_a_memory_among_much_code_keeps_its_place():
    lines = "\n".join(f"    line_{n} = compute_something(value, {n})" for n in range(200))
    code = [Item("retrieval", "code", f"c{n}", lines, path=f"f{n}.py", start_line=1, end_line=200, score=1 - n / 10) for n in range(4)]
    packed = pack([*code, memory("m", 0.1)], Budget(1_000, 1_000, 1_000, 1_000, 1_000), XmlFormat(), count_tokens, explicit=True)
    assert [one.id for one in packed.items][-1] == "m"
    assert packed.items[0].id == "c0"
    assert packed.tokens <= 1_000
