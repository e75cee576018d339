"""Find and rank code: search chunks, then rank the symbols in them.

Chunks are found by words and vectors, and their lines are divided among symbols. Symbols that the query names, and neighbours of these
symbols, are candidates, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from heapq import nlargest
from typing import Final, NamedTuple

from graphmem.projection.graph.view import GraphView
from graphmem.projection.snapshot import Snapshot
from graphmem.projection.words.entries import Entry
from graphmem.projection.words.index import WordAnswer
from graphmem.projection.words.pieces import Pieces
from graphmem.search.code.candidates import Dense
from graphmem.search.code.comments import credited
from graphmem.search.code.surroundings import echoes, joined_by_edges, like_the_best
from graphmem.search.code.votes import best_first, with_votes, without_copies
from graphmem.search.code.words import UnitWords, unit_words
from graphmem.search.code.written import is_completion, is_log, texts_among
from graphmem.search.fusion import Fused, Ranked, fuse
from graphmem.search.query.literal import is_message, literal, messages
from graphmem.search.query.places import named_files
from graphmem.search.query.query_type import QUESTION, classify
from graphmem.search.request import Request, Tuning, Weights
from graphmem.search.units.units import NOWHERE, SURE, Units, Voted, divided

_OF_TESTS: Final = re.compile(r"\b(tests?|testing|tested|fixtures?|mocks?|pytest|unittest|assert\w*)\b|test_|Test[A-Z]", re.IGNORECASE)
_WITH_MESSAGES: Final = 40  # units with the best scores for words, whose texts are searched for a message
_OF_DOCUMENTS: Final = re.compile(
    r"\b(docs?|documentation|documented|readme|change ?logs?|release notes?|guides?|tutorials?|manual|config\w*|settings?|workflows?|"
    r"ci|dependenc(?:y|ies)|versions?|licen[cs]e|installed|installation)\b|\w\.(?:md|rst|txt|ya?ml|toml|json|ini|cfg)\b",
    re.IGNORECASE,
)


class Signs(NamedTuple):
    """Facts about a query's symbols and files that raise some scores.

    Examples are the symbols that the query names, and files that change often. The facts are known before the candidates are found.
    """

    named: Mapping[int, float]  # symbols that the query names -> confidence
    placed: Collection[int]  # definitions at places that the query gives by file and line; a subset of `named`
    around: Mapping[int, tuple[float, int]]  # neighbours of the named symbols: (score, nearest seed)
    active: Mapping[str, float]  # paths -> nearness to the active files
    churn: Mapping[str, float]  # paths -> how often they change, 0 to 1


class CodeLists(NamedTuple):
    """Scores of code units, one list for each way to search.

    A unit is a symbol, or a chunk without a symbol.
    """

    lists: list[Ranked]
    units: Units
    receivers: dict[str, list[str]]  # chunk -> units that receive its cosine
    best_cosine: float
    share: float  # share of chunks that have vectors; 0 if the dense path did not run
    texts: Collection[str] = ()  # functions that only hold a long string


class Answers(NamedTuple):
    """The chunks that the two indexes of chunks found for a query.

    Attributes:
        words: the answer of the index of words; None if it did not run.
        dense: the answer of the index of vectors; None if it did not run.
        share: the share of all chunks that have vectors, 0 to 1. The weight of vectors is multiplied by it.
    """

    words: WordAnswer | None
    dense: Dense | None
    share: float


def gather(query: str, shot: Snapshot, answers: Answers, signs: Signs, weights: Weights, tuning: Tuning) -> CodeLists:
    """Find candidates among code in every way: words, vectors, names, graph.

    The result has the scores of units: symbols, or chunks without a symbol.

    Args:
        query: the search text.
        shot: the searched snapshot.
        answers: the chunks that were found by words and by vectors.
        signs: facts known before, such as the symbols that the query names.
        weights: weights of the ways of searching for the query's type.
        tuning: limits and switches of the search.
    """
    view, words, dense = shot.graph, answers.words, answers.dense
    weights = weights._replace(dense=weights.dense * answers.share, told=weights.told * (1 - answers.share))
    chunk_words = {hit.id: hit.score for hit in words.hits} if words is not None else {}
    chunk_dense = dense.chunks if dense is not None else {}
    pieces = shot.words.pieces if shot.words is not None and shot.words.generation == view.generation else NOWHERE
    entries = _entries_of(sorted(chunk_words.keys() | chunk_dense.keys()), pieces, shot)
    if dense is not None and shot.vectors is not None:
        # Every candidate gets a cosine, whichever method found it, because a cosine is cheap.
        known = shot.vectors.cosines(dense.query, [entry.text_hash for entry in entries.values()])
        chunk_dense = {key: known[entry.text_hash] for key, entry in entries.items() if entry.text_hash in known}
    best_first = sorted(entries, key=_places(chunk_words, chunk_dense))
    units = divided(view, entries, best_first, signs.named, pieces, divide=tuning.divide, most=tuning.units)
    units.nodes.update({view.ids[node]: node for node in (*signs.named, *signs.around)})
    by_words = UnitWords({}, {}, {}, {})
    if words is not None and shot.words is not None:
        by_words = unit_words(units, words, shot.words, query, tuning.fields, with_docs=weights.told > 0)
    receivers = _receivers(units)
    by_cosine = _cosines(receivers, chunk_dense)
    for chunk in sorted(units.segments, key=lambda key: (-chunk_words.get(key, 0.0), -chunk_dense.get(key, -1.0), key)):
        for segment in units.segments[chunk]:
            units.best.setdefault(segment.unit, segment)
    lists = _lists(query, units, by_words, by_cosine, signs, weights)
    texts = texts_among(view, units.stems, units.nodes, shot.words) if shot.words is not None and _asks_for_code(query) else ()
    return CodeLists(lists, units, receivers, max(chunk_dense.values(), default=0.0), answers.share if chunk_dense else 0.0, texts)


def _entries_of(chunks: Sequence[str], pieces: Pieces, shot: Snapshot) -> dict[str, Entry]:
    """Return the entries of chunks in the word index, by chunk id.

    `pieces` are chunks that an earlier query read. Removed chunks have no entry.
    """
    entries = {chunk: piece.entry for chunk, piece in pieces.known(chunks).items()}
    if shot.words is not None and len(entries) < len(chunks):
        entries |= shot.words.entries(chunk for chunk in chunks if chunk not in entries)
    return entries


def _lists(query: str, units: Units, words: UnitWords, cosines: Mapping[str, float], signs: Signs, weights: Weights) -> list[Ranked]:
    """Return one list of unit scores for each way of searching.

    `words` and `cosines` have the scores of the two indexes. `signs` has facts such as the symbols that the query names, and `weights` the
    weight of each list.
    """
    view = units.view
    literals = literal(query, units.texts()) if weights.literal else {}
    said = _messages(view, query, units, words.whole) if weights.message else {}
    places = _in_files(units, named_files(view, query)) if weights.places else {}
    return [
        Ranked("words", words.whole, weights.words),
        Ranked("sentence", words.sentence, weights.sentence, full=1.0),
        Ranked("names", words.names, weights.names, full=1.0),
        Ranked("told", words.told, weights.told, full=1.0),
        Ranked("dense", cosines, weights.dense, None),
        Ranked("exact", {view.ids[node]: score for node, score in signs.named.items()}, weights.exact, full=1.0),
        Ranked("graph", {view.ids[node]: score for node, (score, _) in signs.around.items()}, weights.graph),
        Ranked("literal", literals, weights.literal, full=1.0),
        Ranked("message", said, weights.message, full=1.0),
        Ranked("places", places, weights.places, full=1.0),
        Ranked("frames", {view.ids[node]: 1.0 for node in signs.placed}, weights.frames, full=1.0),
        Ranked("files", _in_files(units, signs.active), weights.files, full=1.0),
        Ranked("churn", _in_files(units, signs.churn) if weights.churn else {}, weights.churn, full=1.0),
    ]


def worth_of(view: GraphView, query: str, tuning: Tuning) -> Callable[[str, str], float] | None:
    """Return a function that lowers scores of tests and documents, or None.

    The function returns a factor for (kind of chunks, path of their file). The search by words multiplies the scores of these chunks by the
    factor. Otherwise tests and documents would fill most of the limited number of candidates. `tuning` has the factors. The result is None
    if the query is not a question about code, or mentions tests.
    """
    if not _asks_for_code(query) or _OF_TESTS.search(query) is not None:
        return None
    of_tests, of_others = tuning.tests_of_questions, tuning.candidates

    def worth(kind: str, path: str) -> float:
        return (of_tests if view.in_tests(path) else 1.0) * (1.0 if kind == "code" else of_others)

    # The same function for each query, because the word index caches its results by file.
    kept: Callable[[str, str], float] = view.kept.setdefault(f"worth {of_tests} {of_others}", worth)
    return kept


def _asks_for_code(query: str) -> bool:
    """Whether a query is a question, and does not mention documents."""
    return classify(query) == QUESTION and _OF_DOCUMENTS.search(query) is None


def is_heard(found: CodeLists, faint: float) -> bool:
    """Whether any code candidate matches well enough to be shown.

    A candidate matches if it has a word or a name of the query, or is at a file and line that the query names. A candidate also matches if
    its cosine with the query is at least `faint`.
    """
    return found.best_cosine >= faint or any(one.scores for one in found.lists if one.name not in ("dense", "files", "churn"))


def _messages(view: GraphView, query: str, units: Units, scores: Mapping[str, float]) -> dict[str, float]:
    """Map each unit to the share, 0 to 1, of a program's message that it has.

    The query is the message. If it cannot be a message of a program, the result is empty. A unit is a symbol, or a chunk without a symbol.
    Only the units with the best `scores` for words are examined. Tests repeat the messages of the code, so tests count only if the query
    mentions tests.
    """
    if not is_message(query):
        return {}
    best = set(nlargest(_WITH_MESSAGES, scores, key=lambda unit: (scores[unit], unit)))
    if _OF_TESTS.search(query) is None:
        best = {unit for unit in best if not view.in_tests(units.path(unit))}
    return messages(query, units.texts(best))


def _in_files(units: Units, files: Mapping[str, float]) -> dict[str, float]:
    """Map each candidate to the score that `files` has for its file's path.

    Candidates in files without a score are left out.
    """
    return {unit: value for unit in units.best if (value := files.get(units.path(unit), 0.0))} if files else {}


def _places(*lists: Mapping[str, float]) -> Callable[[str], tuple[int, str]]:
    """Return a sort key that orders chunks by their best position in lists.

    Each of `lists` maps chunk ids to scores. A chunk's best position is the first one that it has in any of the lists, each sorted by
    score. Chunks that are in no list come last. Ties are ordered by id.
    """
    place: dict[str, int] = {}
    for scores in lists:
        for at, key in enumerate(sorted(scores, key=lambda key: (-scores[key], key))):
            place[key] = min(at, place.get(key, at))
    return lambda key: (place.get(key, len(place)), key)


def _receivers(units: Units) -> dict[str, list[str]]:
    """Map each chunk to the units that its vector scores.

    A unit is a symbol, or the lines of a chunk outside every symbol. A vector describes a whole chunk. These units get the vector's score:

    - the symbols in the chunk;
    - candidates that enclose a unit in the chunk, such as its class;
    - the lines outside every symbol, unless the chunk was cut from a definition and contains other units.
    """
    there = set(units.stems.units)
    facts = units.facts(there)
    around: dict[str, list[str]] = {}
    receivers: dict[str, list[str]] = {}
    for chunk, segments in units.segments.items():
        of_chunk = receivers[chunk] = []
        for segment in segments:
            unit = segment.unit
            if unit == chunk and units.entries[chunk].symbol and len(segments) > 1:
                continue
            if unit not in around:
                around[unit] = [unit, *(outer for outer in facts[unit].enclosing if outer in there)]
            of_chunk += around[unit]
    return receivers


def _cosines(receivers: Mapping[str, Sequence[str]], cosines: Mapping[str, float]) -> dict[str, float]:
    """Return the best cosine of the chunks of each symbol.

    `receivers` maps a chunk to the symbols that get the chunk's cosine, and `cosines` maps a chunk to its cosine. Symbols without a cosine
    are left out. The lines of a chunk outside symbols count as one symbol.
    """
    best: dict[str, float] = {}
    for chunk, units in receivers.items():
        cosine = cosines.get(chunk)
        if cosine is not None:
            for unit in units:
                if cosine > best.get(unit, -2.0):
                    best[unit] = cosine
    return best


def join(shot: Snapshot, found: CodeLists, request: Request, weights: Weights, tuning: Tuning, best_cosine: float | None) -> list[Voted]:
    """Merge the lists of code candidates into one; return the best k.

    A candidate gains a bonus (votes) if its file has other good hits. `k` is the number of hits that the request asks for.

    Args:
        shot: the searched snapshot.
        found: the result of `gather`.
        request: the search request.
        weights: weights of the ways of searching, such as words and vectors, for the query's type.
        tuning: the normaliser and the switches for optional steps.
        best_cosine: the cosine that gives the full score when code is ranked together with memories; None to use the best cosine found.
    """
    lists = [one._replace(full=best_cosine) if one.name == "dense" and best_cosine is not None else one for one in found.lists]
    fused = fuse(lists, tuning.normaliser)
    if weights.alike or weights.joined or weights.echo:
        fused = fuse(_expansion(shot, found, fused, weights, tuning), tuning.normaliser, before=fused)
    if request.kinds and not request.kinds & {"code", "prose", "data"}:
        fused = [hit for hit in fused if hit.id in found.units.nodes]
    fused = credited(shot.graph, fused, found.units, request.query, request.k)
    voted = with_votes(fused, found.units, weights.votes, tuning.voters)
    named = next(one.scores for one in found.lists if one.name == "exact")
    asks_for_tests = tuning.tests == 1 or _OF_TESTS.search(request.query) is not None
    factors = tuning._replace(tests=1.0 if asks_for_tests else tuning.tests)
    if not _asks_for_code(request.query):
        factors = factors._replace(written=1.0, logs=1.0)
    return without_copies(_lowered(shot.graph, voted, found, named, factors), found.units)[: request.k]


def _expansion(shot: Snapshot, found: CodeLists, fused: Sequence[Fused], weights: Weights, tuning: Tuning) -> list[Ranked]:
    """Return lists of candidates that resemble the best hits.

    `fused` are the candidates, best first. `weights` and `tuning` have the weights of the lists and the number of hits to resemble. There
    are three lists. The first has candidates with similar vectors. The second has candidates that share rare words with the hits. The third
    has candidates that an edge joins to a hit.
    """
    chunks = like_the_best(fused, found.units, shot.vectors, tuning.judged_right) if found.share and shot.vectors is not None else {}
    echo = weights.echo * found.share
    return [
        Ranked("alike", _cosines(found.receivers, chunks), weights.alike * found.share, None),
        Ranked("echo", echoes(fused, found.units.stems, tuning.judged_right) if echo else {}, echo),
        Ranked("joined", joined_by_edges(shot.graph, {hit.id: hit.score for hit in fused}, tuning.others), weights.joined, full=1.0),
    ]


def _lowered(view: GraphView, voted: Sequence[Voted], found: CodeLists, named: Mapping[str, float], tuning: Tuning) -> list[Voted]:
    """Lower the scores of code that a query rarely means.

    Such code is:

    - definitions inside functions;
    - classes, because a class receives the vectors of all its methods;
    - code outside definitions;
    - documents and data;
    - functions that only hold a long string;
    - tests, because a test repeats the words of the tested code.

    A symbol that the query clearly names is lowered only if the symbol is a test. `voted` are the candidates, and `named` the named symbols
    with their confidence. `tuning` has the factors; a factor of 1 lowers nothing.
    """
    units = found.units
    facts = units.facts([one.hit.id for one in voted])
    in_tests: dict[str, float] = {}

    def of_path(path: str) -> float:
        if path not in in_tests:
            in_tests[path] = tuning.tests if view.in_tests(path) else 1.0
        return in_tests[path]

    def factor(unit: str) -> float:
        if unit not in units.nodes:
            entry = units.entries[unit]
            by = of_path(entry.path)
            if entry.kind == "code":
                return by * (tuning.written if is_completion(entry.path) else tuning.around)
            return by * (tuning.logs if is_log(entry.path) else tuning.written)
        by = tuning.tests if facts[unit].is_test else 1.0
        if named.get(unit, 0.0) > SURE:
            return by
        by *= tuning.written if unit in found.texts else 1.0
        return by * (tuning.inner if facts[unit].is_inner else 1.0) * (tuning.around if facts[unit].is_class else 1.0)

    lowered = [
        Voted(one.hit, one.score * by, one.boost - one.score * (1 - by), one.boosted_by)
        if one.score > 0 and (by := factor(one.hit.id)) != 1
        else one
        for one in voted
    ]
    return sorted(lowered, key=best_first)
