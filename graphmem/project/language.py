"""The verbs that use a language model when one is configured, and say what they know without one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from graphmem.errors import BadInputError
from graphmem.knowledge import is_held
from graphmem.project import subjects
from graphmem.project.answering import reply
from graphmem.project.arguments import within
from graphmem.project.documents import DocumentVerbs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers import SearchAnswer
    from graphmem.answers.semantic import Flow, FlowPage, ModuleDetail, ModuleMap, ParagraphState, Reply
    from graphmem.language_model import LanguageModel
    from graphmem.project.paragraphs import Paragraphs

MOST_FLOWS: Final = 50  # that have a paragraph: those that are listed first
QUESTION: Final = 2_000  # characters
LONGEST_WAIT_S: Final = 600.0


class LanguageVerbs(DocumentVerbs):
    """Part of `GraphMem`: the semantic layer in a model's words, and answers to questions."""

    _language_model: LanguageModel | None
    _paragraphs: Paragraphs
    search: Callable[..., SearchAnswer]

    def ask(self, question: str, limit: int = 12, *, files: Sequence[str] | None = None) -> Reply:
        """An answer whose sentences cite the evidence they stand on, or, without a language model, the evidence.

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
        found = self.search(asked, limit=limit, files=files, explain=True)
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
        here = self._semantics()
        with here.lock:
            listed = here.flows(None)
            wanted = [subjects.of_module(here.modules, info) for info in here.modules.infos]
            wanted += [subjects.of_flow(here.view, flow) for flow in listed[:MOST_FLOWS]]
        found = self._paragraphs.state(wanted if self._writes else [], wait_s)
        notes = list(found.notes)
        if not self._settings.paragraphs:
            notes.append("the setting paragraphs is off")
        elif self._language_model is None:
            notes.append("no language model is configured; see `model_url` in `graphmem config`")
        elif len(listed) > MOST_FLOWS:
            notes.append(f"{len(listed) - MOST_FLOWS:,} flows beyond the first {MOST_FLOWS} get no paragraph")
        return dataclasses.replace(found, notes=notes)

    def modules(self) -> ModuleMap:
        """See `SemanticVerbs.modules`; with paragraphs."""
        found = super().modules()
        if not self._writes:
            return found
        texts = self._of_modules({info.id for info in found.modules})
        told = [dataclasses.replace(info, paragraph=texts.get(info.id, "")) for info in found.modules]
        return dataclasses.replace(found, modules=told)

    def module(self, ref: str) -> ModuleDetail:
        """See `SemanticVerbs.module`; with its paragraph."""
        found = super().module(ref)
        if not self._writes:
            return found
        text = self._of_modules({found.module.id}).get(found.module.id, "")
        return dataclasses.replace(found, module=dataclasses.replace(found.module, paragraph=text))

    def flows(self, kinds: Sequence[str] | None = None, module: str | None = None, limit: int = 50, offset: int = 0) -> FlowPage:
        """See `SemanticVerbs.flows`; with paragraphs."""
        found = super().flows(kinds, module, limit, offset)
        if not self._writes:
            return found
        here = self._semantics()
        with here.lock:
            listed = {one.id for one in found.flows}
            described = {one.id: subjects.of_flow(here.view, one) for one in here.flows(None)[:MOST_FLOWS] if one.id in listed}
        texts = dict(zip(described, self._paragraphs.of(described.values()), strict=True))
        told: list[Flow] = [dataclasses.replace(one, paragraph=texts.get(one.id, "")) for one in found.flows]
        return dataclasses.replace(found, flows=told)

    def _of_modules(self, ids: set[str]) -> dict[str, str]:
        """Paragraphs by id of the module, of those that are modules now."""
        here = self._semantics()
        with here.lock:
            asked = {info.id: subjects.of_module(here.modules, info) for info in here.modules.infos if info.id in ids}
        return dict(zip(asked, self._paragraphs.of(asked.values()), strict=True))

    @property
    def _writes(self) -> bool:
        """Whether paragraphs are wanted and there may be any."""
        return self._settings.paragraphs and self._paragraphs.wanted
