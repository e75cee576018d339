"""Expand abbreviations: "argument" finds `args`, and the reverse.

The table of abbreviations has one row for each concept, such as "argument". A row has the full words of the concept and their short forms.
Each form occurs in one row only. Inflections with the same stem need not be listed. An abbreviation that only one project uses belongs in
the project's aliases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Final

_ROWS: Final = """
    addr address
    anno annotation
    arg argument
    async asynchronous
    attr attribute
    auth authentication authenticate authorization authorize
    bool boolean
    cb callback
    cert certificate
    cfg conf config configure configuration
    char character
    cls class
    cmd command
    col column
    conn connection connect
    cred credential
    ctx context
    db database
    def definition
    del delete remove
    dep dependency
    desc description
    dest dst destination target
    dir directory folder
    dist distribution
    doc documentation document
    env environ environment
    err error
    eval evaluate evaluation
    exc exception
    exec execute execution
    expr expression
    ext extension
    fmt format
    fn func function
    fs filesystem
    gen generator generate
    hdr header
    idx index
    impl implementation
    info information
    init initialize initialise initialization
    int integer
    iter iterator iterate iteration
    kw kwd kwarg keyword
    lang language
    len length size
    lib library
    loc location
    max maximum
    mem memory
    min minimum
    mod module
    msg message
    num number count
    obj object
    opt option
    param parameter
    perm permission
    pkg package
    pos position
    prev previous
    priv private
    proc process
    prop property
    pub public
    pwd passwd password
    recv receive
    ref reference
    regex regexp pattern
    repo repository
    req request
    resp response
    sep separator
    seq sequence
    serv server
    sess session
    sig signature signal
    sock socket
    spec specification
    src source
    stmt statement
    str string
    sync synchronous synchronize
    temp tmp temporary
    tok token
    ts timestamp
    tz timezone
    val value
    var variable
    ver version
    ws websocket
"""


def other_forms(wanted: Iterable[str], stems: Callable[[Iterable[str]], Mapping[str, str]]) -> dict[str, str]:
    """Return other forms of a query's words, such as abbreviations, as stems.

    The result maps the stem of each other form to the stem of the query's word. For example, if the query has `argument`, the result maps
    `args` to `argument`. A form that the query contains itself is left out.

    Args:
        wanted: stems of the words that a query contains.
        stems: returns the stem of each word.
    """
    asked = set(wanted)
    rows = _rows_of(stems)
    return {form: stem for stem in sorted(asked, reverse=True) for form in rows.get(stem, ()) if form not in asked}


@cache
def _rows_of(stems: Callable[[Iterable[str]], Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Map each stem to all stems in its row of the table of abbreviations.

    A row has the full words of a concept and their short forms.
    """
    rows = [line.split() for line in _ROWS.splitlines() if line.strip()]
    stem_of = stems(word for row in rows for word in row)
    return {stem_of[word]: tuple(dict.fromkeys(stem_of[other] for other in row)) for row in rows for word in row}
