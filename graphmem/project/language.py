"""What a language model adds when one is configured: paragraphs about modules and flows, and answers to questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from graphmem.errors import BadInputError
from graphmem.knowledge import is_held
from graphmem.project import subjects
from graphmem.project.answering import reply
from graphmem.project.arguments import within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers import SearchAnswer
    from graphmem.answers.semantic import Flow, ModuleInfo, ParagraphState, Reply
    from graphmem.language_model import LanguageModel
    from graphmem.project.derived import Semantics, SemanticSource
    from graphmem.project.paragraphs import Paragraphs
    from graphmem.settings import Settings

MOST_FLOWS: Final = 50  # that have a paragraph: those that are listed first
QUESTION: Final = 2_000  # characters
LONGEST_WAIT_S: Final = 600.0


class Described:
    """Adds paragraphs of a language model to modules and flows; those that are missing are written for a later answer.

    Args:
        paragraphs: that are there.
        is_on: whether the settings want them.
    """

    def __init__(self, paragraphs: Paragraphs, is_on: bool) -> None:
        self._paragraphs = paragraphs
        self._is_on = is_on

    @property
    def writes(self) -> bool:
        """Whether paragraphs are wanted and there may be any."""
        return self._is_on and self._paragraphs.wanted

    def modules(self, here: Semantics, infos: Sequence[ModuleInfo]) -> list[ModuleInfo]:
        """Modules of a graph, with their paragraphs."""
        if not self.writes:
            return list(infos)
        wanted = {info.id for info in infos}
        with here.lock:
            asked = {info.id: subjects.of_module(here.modules, info) for info in here.modules.infos if info.id in wanted}
        texts = dict(zip(asked, self._paragraphs.of(asked.values()), strict=True))
        return [dataclasses.replace(info, paragraph=texts.get(info.id, "")) for info in infos]

    def flows(self, here: Semantics, flows: Sequence[Flow]) -> list[Flow]:
        """Flows of a graph, with the paragraphs of those that are listed first without a filter."""
        if not self.writes:
            return list(flows)
        listed = {one.id for one in flows}
        with here.lock:
            asked = {one.id: subjects.of_flow(here.view, one) for one in here.flows(None)[:MOST_FLOWS] if one.id in listed}
        texts = dict(zip(asked, self._paragraphs.of(asked.values()), strict=True))
        return [dataclasses.replace(one, paragraph=texts.get(one.id, "")) for one in flows]


class LanguageQuestions:
    """Answers with a language model when one is configured, and says what is known without one.

    Args:
        search: finds the evidence of an answer.
        semantics: what paragraphs are about.
        paragraphs: that are there.
        described: says whether they are wanted.
        model: of language; None for none.
        settings: say whether paragraphs are wanted.
    """

    def __init__(
        self,
        search: Callable[..., SearchAnswer],
        semantics: SemanticSource,
        paragraphs: Paragraphs,
        described: Described,
        model: LanguageModel | None,
        settings: Settings,
    ) -> None:
        self._search = search
        self._semantics = semantics
        self._paragraphs = paragraphs
        self._described = described
        self._language_model = model
        self._settings = settings

    def ask(self, question: str, limit: int = 12, *, files: Sequence[str] | None = None) -> Reply:
        """Search, and have the language model say what it makes of the hits.

        Args:
            question: at most 2,000 characters.
            limit: pieces of evidence, 1 to 50.
            files: one works on; what is near them is lifted.

        Raises:
            BadInputError: no question, or one that is too long.
            NotIndexedError: there is nothing to search.
        """
        asked = question.strip()
        if not asked or len(asked) > QUESTION:
            raise BadInputError(
                f"the question has {len(asked):,} characters; give 1 to {QUESTION:,}", argument="question", value=len(asked)
            )
        within("limit", limit, 1, 50)
        found = self._search(asked, limit=limit, files=files, explain=True)
        shown = [hit for hit in found.hits if hit.memory is None or not is_held(hit.memory)]  # a model is told nothing unreviewed
        return reply(self._language_model, asked, dataclasses.replace(found, hits=shown))

    def paragraphs(self, wait_s: float = 0.0) -> ParagraphState:
        """Have the language model write the paragraphs about modules and flows that are missing, and say how far it is.

        `modules`, `module` and `flows` carry those that are there; they have missing ones written too, and wait for none.

        Args:
            wait_s: how long to wait for it, 0 to 600 seconds.

        Raises:
            NotIndexedError: there is nothing to write about.
        """
        within("wait_s", wait_s, 0, LONGEST_WAIT_S)
        here = self._semantics.newest()
        with here.lock:
            listed = here.flows(None)
            wanted = [subjects.of_module(here.modules, info) for info in here.modules.infos]
            wanted += [subjects.of_flow(here.view, flow) for flow in listed[:MOST_FLOWS]]
        found = self._paragraphs.state(wanted if self._described.writes else [], wait_s)
        notes = list(found.notes)
        if not self._settings.paragraphs:
            notes.append("the setting paragraphs is off")
        elif self._language_model is None:
            notes.append("no language model is configured; see `model_url` in `graphmem config`")
        elif len(listed) > MOST_FLOWS:
            notes.append(f"{len(listed) - MOST_FLOWS:,} flows beyond the first {MOST_FLOWS} get no paragraph")
        return dataclasses.replace(found, notes=notes)
