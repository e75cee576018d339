"""Answers about the architecture, and replies to questions.

Answers about the architecture describe documents, commits, and the drift between two revisions.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from graphmem.answers.code import PathStep, SymbolInfo
from graphmem.answers.marks import Doc, Size
from graphmem.answers.modules import Cycle
from graphmem.answers.plain import answer
from graphmem.answers.search import SearchAnswer
from graphmem.answers.vocabulary import Moment, MomentOrNone, ReasonKind


@answer
class ModuleChange:
    """The change of a module between two revisions."""

    name: str
    change: Annotated[str, Doc("change of the module between the two revisions: added, removed or changed")]
    files_before: int
    files_after: int
    came: Annotated[list[str], Doc("files that joined the module, at most 20")]
    left: Annotated[list[str], Doc("files that left the module, at most 20")]


@answer
class DependencyChange:
    """A change of a dependency between modules, between two revisions."""

    src: Annotated[str, Doc("name of the dependent module in the newer revision, or in the older one if the module was removed")]
    dst: str
    change: Annotated[str, Doc("change of the dependency: added, removed, heavier (more edges) or lighter (fewer edges)")]
    before: Annotated[int, Doc("number of edges in the older revision")]
    after: int
    sites: Annotated[list[PathStep], Doc("new edges of an added or heavier dependency, at most 5: calls and types first"), Size(5)]


@answer
class ApiChange:
    """A change of one definition that other files rely on, between revisions."""

    symbol: Annotated[SymbolInfo, Doc("the definition in the newer revision; in the older revision when it was removed")]
    change: Annotated[str, Doc("change of the definition: added, removed, signature or moved")]
    before: Annotated[str, Doc("previous signature or path of the definition; empty if there is none")]
    public: Annotated[bool, Doc("whether code outside the project may use the definition; false if only the project's other files use it")]


@answer
class Drift:
    """Changes in the architecture between two revisions."""

    base: Annotated[str, Doc("full commit id of the older revision")]
    head: Annotated[
        str, Doc("full commit id of the newer revision; or a sentence, if the indexed files were compared instead of a revision")
    ]
    modules: Annotated[list[ModuleChange], Doc("modules that were added, removed or changed"), Size(20)]
    dependencies: Annotated[
        list[DependencyChange], Doc("changed dependencies between modules: those that differ between the two revisions"), Size(50)
    ]
    new_cycles: Annotated[list[Cycle], Doc("cycles that exist only in the newer revision"), Size(3)]
    resolved_cycles: Annotated[list[Cycle], Doc("cycles that exist only in the older revision"), Size(3)]
    api: Annotated[
        list[ApiChange],
        Doc("changes of definitions that are public, entry points, or used by other files; public ones first, at most 500"),
        Size(100),
    ]
    api_counts: Annotated[dict[str, int], Doc("Number of changed definitions by kind of change; `api` may list fewer"), Size(4)]
    modularity_before: float
    modularity_after: float
    notes: list[str] = field(default_factory=list)


@answer
class Document:
    """A document that a client can store as a file."""

    text: str
    media_type: str
    name: Annotated[str, Doc("suggested name for a file that stores the exported document")]


@answer
class ParagraphState:
    """Progress of the paragraphs that a language model writes about the code.

    There is one paragraph for each module and each main call flow.
    """

    model: Annotated[str, Doc("name and host of the language model; empty when none is configured")]
    total: Annotated[int, Doc("number of paragraphs that the language model should write: one for each module and each main call flow")]
    written: int
    refused: Annotated[int, Doc("number of paragraphs by the language model that were discarded, because no sentence was usable")]
    running: Annotated[bool, Doc("true while the language model is writing paragraphs")]
    notes: list[str] = field(default_factory=list)


@answer
class Sentence:
    """A sentence of a generated answer, with its evidence."""

    text: str
    cites: Annotated[list[int], Doc("numbers of the search results that support the sentence; 1 is the first one in the evidence")]


@answer
class Reason:
    """A passage found for a question that asks why something is as it is.

    The passage gives a reason, or is only similar to the question.
    """

    kind: ReasonKind
    text: Annotated[str, Doc("the passage, at most 400 characters; for a commit the message without its subject")]
    states: Annotated[bool, Doc('true when the passage has words of the question and a word such as "because"')]
    title: Annotated[str, Doc("title of the memory or section, name of the code, or subject of the commit")]
    path: Annotated[str, Doc("path of the file; empty for memories and commits")]
    line: Annotated[int, Doc("line of the file where the passage begins; 0 without a file")]
    ref: Annotated[str, Doc("id of the memory, hash of the commit, or reference of the search result")]
    at: Annotated[MomentOrNone, Doc("when the memory or the commit was made; null for files")] = ""


@answer
class Reply:
    """The answer to a question: sentences of a language model, with evidence."""

    question: str
    sentences: Annotated[
        list[Sentence],
        Doc("the reply, sentence by sentence; empty without a language model, or when the evidence supports no sentence"),
        Size(12),
    ]
    evidence: Annotated[SearchAnswer, Doc("search results to which the sentences of the reply refer by number, from 1")]
    model: Annotated[str, Doc("the language model that wrote the sentences; empty if there is none")]
    notes: Annotated[
        list[str], Doc("a command that answers the question from the code graph, if there is one; and why the reply has no sentences")
    ] = field(default_factory=list)
    reasons: Annotated[
        list[Reason],
        Doc(
            "for a question that begins with why: passages that give a reason, or the nearest passages if "
            "none does; empty if the reply has `sentences`"
        ),
        Size(6),
    ] = field(default_factory=list)


@answer(name="Commit")
class CommitInfo:
    """A commit and the files it changed."""

    sha: str
    at: Moment
    author: Annotated[str, Doc("name of the author in Git, as the project's mailmap corrects it")]
    subject: str
    body: Annotated[str, Doc("the message without its subject")]
    files: Annotated[int, Doc("total number of changed files; `paths` may list fewer")]
    paths: Annotated[list[str], Doc("paths of the first changed files, at most 30")]
    modules: Annotated[
        list[str], Doc("names of the current modules of all changed files, ascending; [] for a commit of more than 2,000 files")
    ]
    routine: Annotated[bool, Doc("whether the author is a program that updates versions, such as renovate[bot]")] = False


@answer
class CommitPage:
    """Commits, newest first, without merges."""

    commits: list[CommitInfo]
    notes: Annotated[list[str], Doc("why the list is empty or incomplete")]
