"""Templates for the text of a memory that is made from a finding.

A finding is a pattern found in a session, such as a fixed error. The text states what to do, for a reader who does not know the session.
Names of files and commands are between backticks. Counts that vary between sessions are not in the text but in the memory's typed fields,
so that the same finding always has the same text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from graphmem.memory.texts.text import clipped
from graphmem.observe.model import Finding, SessionRecord
from graphmem.observe.texts.phrases import (
    QUOTED,
    SECOND_THOUGHT,
    code,
    codes,
    module_name,
    quoted,
    rounded,
    sentence,
    step_name,
    unpunctuated,
)

COMMAND: Final = 120
_NEEDED: Final = 3  # words a belief needs to be meaningful: "this" or "the setup" is not enough
_ANSWERS: Final = 3  # files a search may lead to and still count as answered
_BARE: Final = re.compile(
    r"^[\W\d_]*(?:(?:failed|failures?|errors?|exit(?: code| status)?|code|warnings?|tests?|command)[\W\d_]*)*$", re.IGNORECASE
)

# Facts that are an agent's words, and so may repeat injected text. Facts of other signals are its actions.
SAID: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "self_correction": ("sentence", "right", "wrong"),
        "corrected": ("sentence", "right"),
        "stated": ("sentence",),
        "dead_end": ("approach", "why"),
        "extracted": ("statement",),
        "remember": ("statement", "text"),
    }
)


class Worded(NamedTuple):
    """The text of a memory made from a finding, with title and files."""

    content: str
    type: str
    title: str  # "": the first sentence
    files: tuple[str, ...]
    details: Mapping[str, Any]  # typed details of its memory type


def worded(one: Finding, sessions: int) -> Worded:
    """Make the text of a memory from a finding, by its template.

    Args:
        one: the finding.
        sessions: number of sessions with the finding.

    Raises:
        KeyError: a fact of the sentence is missing, or the signal is unknown.
    """
    content, details = _TEMPLATES[one.signal](one, sessions)
    return Worded(content, one.memory_type, "", one.files, {name: value for name, value in details.items() if value not in ("", None, [])})


def says_nothing(one: Finding) -> str:
    """Return why a finding is useless as a memory; "" if it is useful.

    For example, an error message that does not name the error is useless.
    """
    if one.signal == "repeated_grep" and not 0 < len(one.facts.get("found_in", ())) <= _ANSWERS:
        return "no one place answers what was searched for"
    if one.signal == "error_retry" and is_bare(str(one.facts.get("error", ""))):
        return "its message names no error"
    return ""


def is_bare(message: str) -> bool:
    """Whether an error message only states that something failed.

    For example, `1 failed` or `exit code 2`.
    """
    return _BARE.match(message) is not None


def approach_key(approach: str) -> str:
    """Return a hash of an abandoned approach, equal for the same words.

    Case and spacing are ignored.
    """
    return blake2b(" ".join(approach.casefold().split()).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def dead_ends(record: SessionRecord) -> Iterator[Finding]:
    """Yield the approaches that a session abandoned, as findings.

    If the record already has a finding about an approach, the approach is left out.
    """
    there = {one.facts.get("approach") for one in record.findings if one.memory_type == "dead_end"}
    for one in record.dead_ends:
        if one.approach in there:
            continue
        files = tuple(sorted({*one.reverted, *one.edits}))
        yield Finding(
            signal="dead_end",
            key=f"dead_end:{approach_key(one.approach)}",
            value=0.88 if one.reverted else 0.75,  # like a self-correction, if undone edits support it
            memory_type="dead_end",
            facts={"approach": one.approach, "why": one.why, "task": record.info.work_unit or record.info.title},
            files=files,
            steps=(one.step,),
            contaminated=record.contaminated,
            sources=record.web_sources if record.contaminated else (),
            failed_approach=True,
            work_unit=record.info.work_unit,
            phase=record.info.phase,
        )


# ---- one template for each signal: content, details

Made = tuple[str, dict[str, Any]]


def _file_access(one: Finding, sessions: int) -> Made:
    facts = one.facts
    content = f"Work in {module_name(facts)} usually begins with {code(facts['file'])}: read it first."
    return content, {"module": facts.get("module", ""), "often_read": [facts["file"]], "sessions": sessions}


def _co_access(one: Finding, sessions: int) -> Made:
    a, b, windows = one.facts["a"], one.facts["b"], max(1, one.facts.get("windows", 1))
    if one.memory_type == "prefetch_pattern":
        return f"{code(a)} and {code(b)} are read together: open both when you need either.", {"often_read": [a, b], "sessions": sessions}
    share = one.facts.get("a_first", 0) / windows
    first = one.facts.get("leads") or (a if share >= 0.5 else b)
    then = b if first == a else a
    content = (
        f"When {code(first)} changes, {code(then)} usually has to change too: check it before you call the work done."
        if one.facts.get("leads")
        else f"{code(first)} and {code(then)} change together: when you edit one, check whether the other has to follow."
    )
    return content, {"from": then, "to": first, "support": sessions, "confidence": round(max(share, 1 - share), 2)}


def _error_retry(one: Finding, sessions: int) -> Made:
    facts = one.facts
    message, command, fixes = quoted(facts["error"]), facts.get("command", ""), list(facts.get("fix_files", ()))
    where = f" from {code(clipped(command, COMMAND))}" if command else ""
    fix = f"was solved by a change in {codes(fixes)}" if fixes else "went away after a change"
    content = f"The error {message}{where} {fix}: look there first when it comes back."
    return content, {
        "error_fingerprint": clipped(facts.get("fingerprint", ""), QUOTED),
        "fix": ", ".join(fixes),
    } if one.memory_type == "error_pattern" else {}


def _backtrack(one: Finding, sessions: int) -> Made:
    return (
        f"Changes to {code(one.facts['file'])} are often taken back soon after they are made: make them small, "
        "and test them before building on them."
    ), {}


def _read_abandon(one: Finding, sessions: int) -> Made:
    return f"{code(one.facts['file'])} is often opened for work in {module_name(one.facts)} and then not needed: leave it for later.", {}


def _repeated_grep(one: Finding, sessions: int) -> Made:
    facts = one.facts
    found = list(facts.get("found_in", ()))
    pattern = code(clipped(facts["pattern"], COMMAND))
    where = f" What it looks for is in {codes(found)}." if found else " No file has answered it yet: it is named differently here."
    return f"{pattern} is searched for again and again in work on {module_name(facts)}.{where}", {}


def _tool_sequence(one: Finding, sessions: int) -> Made:
    facts = one.facts
    steps = [str(step) for step in facts["sequence"]]
    commands = [clipped(str(command), COMMAND) for command in facts.get("commands", ())]
    content = f"A way of working that keeps succeeding in {module_name(facts)}: {', then '.join(map(step_name, steps))}."
    content += f" The commands are {codes(commands)}." if commands else ""
    recipe = [{"order": place, "description": step} for place, step in enumerate(steps, 1)]
    return content, {"task_pattern": facts.get("module", ""), "steps": recipe, "success_count": sessions}


def _time_anomaly(one: Finding, sessions: int) -> Made:
    facts = one.facts
    slow = f"{code(str(facts['what']).partition(':')[2] or facts['what'])} can take about {rounded(facts['seconds'])} s"
    return f"{slow} where {rounded(facts['usual_s'])} s are usual: give it time, or a narrower task.", {}


def _self_correction(one: Finding, sessions: int) -> Made:
    facts = one.facts
    right, wrong = str(facts.get("right", "")), str(facts.get("wrong", ""))
    if right and len(wrong.split()) < _NEEDED:
        wrong = ""
    if not right and not wrong:
        right = SECOND_THOUGHT.sub("", str(facts["sentence"]))
    if wrong and right:
        return f"{sentence(right)} It is easy to believe otherwise: {unpunctuated(wrong)}.", {}
    return sentence(right) if right else f"It is not so that {unpunctuated(wrong)}; an agent believed it at first.", {}


def _external_reference(one: Finding, sessions: int) -> Made:
    facts = one.facts
    url = facts.get("url") or facts.get("document") or facts["reference"]
    return f"Work in {module_name(facts)} keeps going back to {url}: read it before changing how this works.", {}


def _glob_ignore(one: Finding, sessions: int) -> Made:
    folder = code(str(one.facts["folder"]).rstrip("/") + "/")
    return (
        f"The files in {folder} turn up in listings and searches and are never needed: leave that folder out when you look for something.",
        {},
    )


def _import_chase(one: Finding, sessions: int) -> Made:
    facts = one.facts
    between = [path for path in facts.get("chain", ()) if path not in (facts["from"], facts["to"])]
    over = f", by way of {codes(between)}" if between else ""
    content = f"What {code(facts['from'])} imports leads to {code(facts['to'])}{over}: open that directly, the answer is there."
    return content, {"from": facts["from"], "to": facts["to"], "support": sessions}


def _test_order(one: Finding, sessions: int) -> Made:
    facts = one.facts
    order = [clipped(str(step), COMMAND) for step in facts["order"]]
    details = {"module": facts.get("module", ""), "samples": sessions}
    if order == ["test", "edit"]:
        return f"Work in {module_name(facts)} goes well when the tests run before each round of edits: do that first.", details
    return f"The tests of {module_name(facts)} are run in this order: {', then '.join(map(code, order))}.", details


def _config_touch(one: Finding, sessions: int) -> Made:
    facts = one.facts
    sources, modules = list(facts.get("sources", ())), list(facts.get("modules", ()))
    what = f"the {code(modules[0])} module" if modules and modules[0] else codes(sources)
    content = f"A change to {what} tends to need one in {code(facts['config'])} too: check it when you edit {codes(sources)}."
    return content, {"from": facts["config"], "to": modules[0] if modules and modules[0] else sources[0], "support": sessions}


def _step_overrun(one: Finding, sessions: int) -> Made:
    facts = one.facts
    ratio = facts.get("ratio") or facts["actual"] / facts["planned"]
    tasks = f"Tasks in {module_name(facts)} take about {ratio:.1f} times the steps that are planned for them"
    content = f"{tasks}: plan for more, or cut them smaller."
    return content, {
        "module": facts.get("module", ""),
        "methodology": facts.get("methodology", ""),
        "actual": facts["actual"],
        "planned": facts["planned"],
        "ratio": round(ratio, 2),
        "samples": sessions,
    }


def _parallel_conflict(one: Finding, sessions: int) -> Made:
    file = one.facts.get("file") or one.files[0]
    return f"Agents that work side by side have edited {code(file)} at the same time: give it to one of them, or take turns.", {}


def _context_token_spike(one: Finding, sessions: int) -> Made:
    facts = one.facts
    cost = f"Reading all of {code(facts['file'])} costs about {rounded(facts['tokens'])} tokens"
    return f"{cost}, far more than other files here: read the part you need.", {
        "module": facts.get("module", ""),
        "tokens": int(facts["tokens"]),
    }


def _dead_end(one: Finding, sessions: int) -> Made:
    approach, why = (
        clipped(unpunctuated(str(one.facts["approach"])), 2 * QUOTED),
        clipped(unpunctuated(str(one.facts.get("why", ""))), QUOTED),
    )
    reason = f" The reason given: {why}." if why and why.casefold() not in approach.casefold() else ""
    where = f" It touched {codes(one.files)}." if one.files else ""
    content = f"An approach that was tried and given up: {approach}.{reason}{where}"
    return content, {"approach": approach, "why_failed": why, "task": clipped(str(one.facts.get("task", "")), QUOTED)}


def _from_request(one: Finding, sessions: int) -> Made:
    return str(one.facts.get("statement") or one.facts["text"]), {}


def _browser(one: Finding, sessions: int) -> Made:
    facts = one.facts
    kind, what, page, said = (str(facts[name]) for name in ("kind", "what", "page", "said"))
    where = f"On {code(page)}, {code(what)}" if page else code(what)
    content = {
        "precondition": f"{code(page)} leads to {code(said)} first: sign in before you open it in a browser.",
        "timing": f"{where} can run into its time limit ({quoted(said)}): wait for the element or the request before it.",
        "ui_behavior": f"{where} was seen to report {quoted(said)}.",
        "test_sequence": f"{where} works after {code(said)}, and failed before.",
        "mcp_gotcha": f"The browser tool for {code(what)} answers {quoted(said)}: take a new look at the page before you use it again.",
    }[kind]
    return content, {"kind": kind}


def _stated(one: Finding, sessions: int) -> Made:
    facts = one.facts
    if one.memory_type != "decision":
        return sentence(str(facts["sentence"])), {}
    instead = str(facts.get("instead") or "")
    return sentence(str(facts["sentence"])), {"rationale": str(facts.get("why") or ""), "alternatives": [instead] if instead else []}


def _unit_done(one: Finding, sessions: int) -> Made:
    facts = one.facts
    planned = f" ({facts['planned']} were planned)" if facts.get("planned") else ""
    where = f" It changed {codes(one.files)}." if one.files else ""
    label = code(clipped(str(facts["label"]), COMMAND))
    return (
        f"The unit of work {label} ended {facts['outcome']} after {facts['actual']} steps{planned}.{where}",
        {},
    )


def _qa_failed(one: Finding, sessions: int) -> Made:
    facts = one.facts
    where = f" Changed before: {codes(one.files)}." if one.files else ""
    check = code(clipped(str(facts["command"]), COMMAND))
    content = f"The check {check} still failed with {quoted(facts['error'])} when its session ended.{where}"
    return content, {"error_fingerprint": clipped(str(facts["error"]), QUOTED)}


def _left_open(one: Finding, sessions: int) -> Made:
    facts = one.facts
    title = f" on {code(clipped(str(facts['title']), COMMAND))}" if facts.get("title") else ""
    content = f"Unfinished work{title}: a session changed {codes(one.files)} and ended before it was done."
    if facts.get("command"):
        content += f" {code(clipped(str(facts['command']), COMMAND))} still fails with {quoted(facts['error'])}."
    if facts.get("left"):
        content += f" The agent's last words about it: {quoted(facts['left'])}."
    return content, {}


_TEMPLATES: Final[Mapping[str, Callable[[Finding, int], Made]]] = MappingProxyType(
    {
        "file_access": _file_access,
        "co_access": _co_access,
        "error_retry": _error_retry,
        "backtrack": _backtrack,
        "read_abandon": _read_abandon,
        "repeated_grep": _repeated_grep,
        "tool_sequence": _tool_sequence,
        "time_anomaly": _time_anomaly,
        "self_correction": _self_correction,
        "corrected": _self_correction,
        "external_reference": _external_reference,
        "glob_ignore": _glob_ignore,
        "import_chase": _import_chase,
        "test_order": _test_order,
        "config_touch": _config_touch,
        "step_overrun": _step_overrun,
        "parallel_conflict": _parallel_conflict,
        "context_token_spike": _context_token_spike,
        "dead_end": _dead_end,
        "remember": _from_request,
        "pin": _from_request,
        "browser": _browser,
        "stated": _stated,
        "unit_done": _unit_done,
        "qa_failed": _qa_failed,
        "left_open": _left_open,
    }
)
WORDED: Final = frozenset(_TEMPLATES)  # signals that have a sentence
