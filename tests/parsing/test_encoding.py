"""Every file can be read as UTF-8, and guesses are told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.parsing.encoding import to_utf8

TEXT = "x = 'Grüße, 世界'\n"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TEXT.encode(), "utf-8"),
        (TEXT.encode("utf-8-sig"), "utf-8-sig"),
        (b"\xff\xfe" + TEXT.encode("utf-16-le"), "utf-16-le"),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "utf-16-be"),
        (TEXT.encode("utf-32"), "utf-32-le"),
    ],
)
def test_marked_and_plain_unicode_is_read_exactly(data, encoding):
    assert to_utf8(data) == (TEXT.encode(), encoding, "")


@pytest.mark.parametrize("header", ["# -*- coding: {} -*-\n", "#!/usr/bin/python\n# vim: set fileencoding={} :\n", "\n#coding={}\n"])
def test_a_python_file_may_declare_its_encoding(header):
    text = header.format("cp1251") + "s = 'Привет'\n"
    assert to_utf8(text.encode("cp1251"), "python") == (text.encode(), "cp1251", "")


def test_a_declaration_counts_in_the_first_two_lines_of_python_only():
    late = "x = 1\n# coding: cp1251\ns = 'é'\n"
    assert to_utf8(late.encode(), "python").encoding == "utf-8"
    assert to_utf8(b"# coding: cp1251\n\xcf\n", "text").encoding == "iso8859-1"


@pytest.mark.parametrize("name", ["nonsense", "hex", "zlib", "rot13"])
def test_a_declaration_that_means_no_text_encoding_is_told(name):
    read = to_utf8(f"# coding: {name}\ns = 'é'\n".encode(), "python")
    assert read.source == f"# coding: {name}\ns = 'é'\n".encode()
    assert name in read.note


def test_a_declaration_the_bytes_do_not_follow_is_told():
    read = to_utf8(b"# coding: ascii\ns = '\xc3\xa9'\n", "python")
    assert read.encoding == "utf-8"
    assert "ascii" in read.note


def test_latin_1_is_the_last_resort_with_a_note():
    read = to_utf8(b"caf\xe9")
    assert (read.source, read.encoding) == ("café".encode(), "iso8859-1")
    assert "Latin-1" in read.note


@given(st.binary(max_size=200), st.sampled_from(["python", "text"]))
def test_whatever_the_bytes_the_answer_is_utf_8(data, language):
    read = to_utf8(data, language).source
    assert read.decode("utf-8").encode("utf-8") == read
