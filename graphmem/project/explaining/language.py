"""Use a configured language model: paragraphs about code, and answers.

Paragraphs describe modules (groups of files) and flows (paths of calls). Answers reply to questions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graphmem.errors import BadInputError
from graphmem.knowledge import is_held
from graphmem.operations.arguments import within
from graphmem.project.explaining.answering import reply
from graphmem.project.structure import subjects
from graphmem.search.hits.groups import counted, grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphmem.answers import SearchAnswer
    from graphmem.answers.findings import Flow
    from graphmem.answers.modules import ModuleInfo
    from graphmem.answers.semantic import ParagraphState, Reply
    from graphmem.language_model import LanguageModel
    from graphmem.project.explaining.paragraphs import Paragraphs
    from graphmem.project.structure.derived import Semantics
    from graphmem.project.structure.semantic_source import SemanticSource
    from graphmem.settings import Settings

MOST_FLOWS: Final = 50  # flows that have a paragraph, in the order of the list
QUESTION: Final = 2_000  # characters of a question
LONGEST_WAIT_S: Final = 600.0


@dataclass(eq=False, repr=False)
class Described:
    """Adds paragraphs, written by a language model, to modules and flows.

    Modules are groups of files, and flows are paths of calls. Missing paragraphs are written in the background for a later answer.
    """

    paragraphs: Paragraphs
    is_on: bool  # whether the settings enable paragraphs

    @property
    def writes(self) -> bool:
        """Whether answers get paragraphs, written by a language model.

        Returns True if the settings enable paragraphs, and either a model is configured or paragraphs exist already.
        """
        return self.is_on and self.paragraphs.wanted

    def modules(self, here: Semantics, infos: Sequence[ModuleInfo]) -> list[ModuleInfo]:
        """Return the modules `infos`, each with the text that a model wrote on it.

        The model is a language model.
        """
        if not self.writes:
            return list(infos)
        wanted = {info.id for info in infos}
        with here.lock:
            asked = {info.id: subjects.of_module(here.modules, info) for info in here.modules.infos if info.id in wanted}
        texts = dict(zip(asked, self.paragraphs.of(asked.values()), strict=True))
        return [dataclasses.replace(info, paragraph=texts.get(info.id, "")) for info in infos]

    def flows(self, here: Semantics, flows: Sequence[Flow]) -> list[Flow]:
        """Return the given call flows with their paragraphs.

        A flow is a path of calls from an entry point. Only the first `MOST_FLOWS` flows of the project can have paragraphs.
        """
        if not self.writes:
            return list(flows)
        listed = {one.id for one in flows}
        with here.lock:
            asked = {one.id: subjects.of_flow(here.view, one) for one in here.flows(None)[:MOST_FLOWS] if one.id in listed}
        texts = dict(zip(asked, self.paragraphs.of(asked.values()), strict=True))
        return [dataclasses.replace(one, paragraph=texts.get(one.id, "")) for one in flows]


@dataclass(eq=False, repr=False)
class LanguageQuestions:
    """Answers questions with a language model if one is configured.

    Without a model, the hits of a search are the answer.
    """

    search: Callable[..., SearchAnswer]  # finds the evidence for an answer
    semantics: SemanticSource  # modules and flows
    written: Paragraphs
    described: Described  # knows whether paragraphs are wanted
    language_model: LanguageModel | None
    settings: Settings

    def ask(self, question: str, limit: int = 12, *, files: Sequence[str] | None = None) -> Reply:
        """Search, and have the language model answer from the hits.

        If a command answers the question from the graph, the first note names that command. If the question asks for a reason and the
        model's answer has no sentences, the answer gets the passages that give a reason, or else the nearest passages.

        Raises:
            BadInputError: the question is empty or too long.
            NotIndexedError: nothing was indexed yet.
        """
        asked = question.strip()
        if not asked or len(asked) > QUESTION:
            raise BadInputError(
                f"the question has {len(asked):,} characters; write 1 to {QUESTION:,} characters", argument="question", value=len(asked)
            )
        within("limit", limit, 1, 50)
        found = self.search(asked, limit=limit, files=files, explain=True)
        shown = [hit for hit in found.hits if hit.memory is None or not is_held(hit.memory)]  # unreviewed memories never reach the model
        evidence = dataclasses.replace(found, hits=shown, groups=grouped(shown), facets=counted(shown))
        from graphmem.project.explaining.reasons import asks_why, reasons
        from graphmem.project.explaining.suited_commands import suited_command

        said = reply(self.language_model, asked, evidence, self._calls)
        if asks_why(asked) and not said.sentences:
            written, notes = reasons(asked, shown, self.search, self.semantics.graph.root())
            said = dataclasses.replace(said, reasons=written, notes=[*said.notes, *notes])
        better = suited_command(self.semantics.graph.view(), asked)
        return dataclasses.replace(said, notes=[better, *said.notes]) if better else said

    def _calls(self, caller: str, callee: str) -> bool:
        view = self.semantics.graph.view()
        first, second = view.index_of.get(caller), view.index_of.get(callee)
        return first is not None and second is not None and second in view.dst[view.out_edges(first, ("CALLS",))]

    def paragraphs(self, wait_s: float = 0.0) -> ParagraphState:
        """Have the language model describe modules and flows; report progress.

        Modules are groups of files, and flows are paths of calls. Only missing paragraphs are written. The operations `modules`, `module`
        and `flows` also start the writing of missing paragraphs, but do not wait for them.

        Args:
            wait_s: seconds to wait for the paragraphs, 0 to 600.

        Raises:
            NotIndexedError: nothing was indexed yet.
        """
        within("wait_s", wait_s, 0, LONGEST_WAIT_S)
        here = self.semantics.newest()
        with here.lock:
            listed = here.flows(None)
            wanted = [subjects.of_module(here.modules, info) for info in here.modules.infos]
            wanted += [subjects.of_flow(here.view, flow) for flow in listed[:MOST_FLOWS]]
        found = self.written.state(wanted if self.described.writes else [], wait_s)
        notes = list(found.notes)
        if not self.settings.paragraphs:
            notes.append("the setting paragraphs is off")
        elif self.language_model is None:
            notes.append("no language model is configured; see `model_url` in `graphmem config`")
        elif len(listed) > MOST_FLOWS:
            notes.append(f"{len(listed) - MOST_FLOWS:,} flows beyond the first {MOST_FLOWS} get no paragraph")
        return dataclasses.replace(found, notes=notes)
