"""Type of a query, and the words of it that may name code."""

from __future__ import annotations

import pytest

from graphmem.search.query.query_type import (
    ERROR,
    IDENTIFIER,
    QUESTION,
    SEMANTIC,
    STRUCTURAL,
    Mention,
    classify,
    mentions,
    without_language,
)


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("getUserName", IDENTIFIER),
        ("fix get_user_name when empty", IDENTIFIER),
        ("src/flask/app.py", IDENTIFIER),
        ("error in flask.app", IDENTIFIER),
        ("what does `run` do", IDENTIFIER),
        ("run()", IDENTIFIER),
        ("MAX_SIZE", IDENTIFIER),
        ("middleware", IDENTIFIER),
        ("how are sessions saved", QUESTION),
        ("retries of failed deliveries", QUESTION),
        ("what happens when the disk is full", QUESTION),
        ("session cookie", QUESTION),
        ("is the password hashed?", QUESTION),
        ("ValueError: the list is empty", ERROR),
        ("failed to open the database", ERROR),
        ("why does it say that the list is empty", QUESTION),
        ("fix the session cookie", SEMANTIC),
        ("cookies: sign them twice", SEMANTIC),
        ("The cookie of a session was signed twice. It is signed once now, when the session ends.", SEMANTIC),
        ("speed up the tests, e.g. by caching", SEMANTIC),
        ("don't use the user's name", SEMANTIC),
        ("who calls dispatch_request", STRUCTURAL),
        ("callers of Flask.run", STRUCTURAL),
        ("what depends on src/flask/app.py", STRUCTURAL),
        ("subclasses of BaseHandler", STRUCTURAL),
        ("who calls whom", QUESTION),
        ("which functions does `handle` depend on?", STRUCTURAL),
        ("tests affected by Flask.run", STRUCTURAL),
        ("Flask.run callers", STRUCTURAL),
        ("everything that inherits from BaseHandler", STRUCTURAL),
        # Descriptions of changes have the same words and ask for nothing.
        ("fix invoke_shell reference to obsolete update_environment", IDENTIFIER),
        ("allow Task.run to be overridden", IDENTIFIER),
        ("reduce calls of _find_handler: it is called by every request", IDENTIFIER),
        ("the command `shell` is a plugin now, so its dependencies are not installed with the tool itself, only on demand", IDENTIFIER),
        ("uses of os.path in `load` and wherever else paths are given are replaced by pathlib, as in all other code", IDENTIFIER),
    ],
)
def test_the_type_of_a_query(query, kind):
    assert classify(query) == kind


def test_words_that_may_name_code_are_told_from_those_that_are_written_as_code():
    assert mentions("Does `run` call self.load_all() or Parser::parse, not the loader") == [
        Mention("run", True),
        Mention("Does", False),
        Mention("call", False),
        Mention("self.load_all", True),
        Mention("or", False),
        Mention("Parser.parse", True),
        Mention("not", False),
        Mention("the", False),
        Mention("loader", False),
    ]


def test_a_quoted_sentence_is_not_a_name():
    assert not any(mention.is_explicit for mention in mentions('it says "cannot open file" and stops'))


def test_nothing_typed_names_nothing():
    assert mentions("  ?! ") == []


@pytest.mark.parametrize(
    ("query", "language", "left"),
    [
        ("python sort a list by length", "python", "sort a list by length"),
        ("how to sort a list in python 3", "python", "how to sort a list"),
        ("sort a list in C#", "csharp", "sort a list"),
        ("sort a list in c++ fast", "cpp", "sort a list fast"),
        ("sort a list in python", "rust", "sort a list in python"),
        ("python version", "python", "python version"),
        ("find the python-config script somewhere", "python", "find the python-config script somewhere"),
        ("go to the next line quickly", "go", "go to the next line quickly"),
    ],
)
def test_the_name_of_the_project_s_language_is_dropped_where_enough_is_left(query, language, left):
    assert " ".join(without_language(query, language).split()) == left
