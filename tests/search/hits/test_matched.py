"""Lines that match a query, and summaries of documentation."""

from __future__ import annotations

from graphmem.answers import MatchedLine
from graphmem.projection.words.text import query_words
from graphmem.search.code.words import stems_of
from graphmem.search.hits.matched import Wanted, summary_of

BODY = """def follow(response):
    while response.is_redirect:
        url = response.headers["location"]
        # cookies of a redirect are kept
        yield send(url)
"""


def lines(query, text=BODY, first=10, name="follow", summary=""):
    wanted, numbered = Wanted.by(query), list(enumerate(text.splitlines(), first))
    stems = {number: wanted.stems.intersection(stems_of(query_words(line)).values()) for number, line in numbered}
    return wanted.lines(numbered, {number: of_line for number, of_line in stems.items() if of_line}, name, summary)


def test_lines_have_their_numbers_and_match_other_forms_of_a_word():
    assert lines("How are redirects detected?") == [MatchedLine(11, "while response.is_redirect:")]


def test_each_further_line_adds_words_that_the_earlier_ones_lack():
    assert [one.line for one in lines("where do redirects read the location and keep cookies")] == [12, 13]


def test_the_line_that_only_names_the_hit_says_nothing():
    assert lines("follow") == []
    assert [one.line for one in lines("follow", name="other")] == [10]


def test_a_line_that_repeats_the_summary_is_not_shown_again():
    text = 'def close(self):\n    """Close the ``stream`` at once.\n\n    No data is lost."""\n    self.stream.shut()\n'
    assert [one.line for one in lines("close a stream", text, name="close")] == [11]
    assert [one.line for one in lines("close a stream", text, name="close", summary="Close the stream at once.")] == [14]


def test_words_without_meaning_match_only_if_they_are_alone():
    assert lines("what is the url of it") == [MatchedLine(12, 'url = response.headers["location"]')]
    assert lines("of a", name="") == [MatchedLine(13, "# cookies of a redirect are kept")]


def test_a_summary_is_one_line_without_markup_and_not_too_short():
    assert summary_of("Builds a :class:`Response <requests.Response>` from ``raw`` data, as adapters give it.\n\nMore.") == (
        "Builds a Response from raw data, as adapters give it."
    )
    assert summary_of("Receives it. Returns\nothers.") == "Receives it. Returns others."
    assert summary_of("") == ""


def test_a_summary_leaves_out_descriptions_of_parameters():
    assert summary_of(":arg stream: an `.IOStream`\n:arg bool is_client: client or server") == ""
    assert summary_of("Sends a request. :param url: the address. :returns: the answer") == "Sends a request."
    assert summary_of("Sends a request to a server.\n@param url the address") == "Sends a request to a server."
    assert summary_of("Returns what :param:`x` names, or `@param` as it is.") == "Returns what x names, or `@param` as it is."
