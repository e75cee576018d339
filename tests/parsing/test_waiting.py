"""Files are shared among parsing processes so that each language is known to few of them."""

from __future__ import annotations

from graphmem.parsing.discovery import FoundFile
from graphmem.parsing.waiting import WORTH_HELP, WaitingFiles


def waiting(**counts: int) -> WaitingFiles:
    blank = FoundFile(*("" for _ in FoundFile._fields))
    return WaitingFiles(
        blank._replace(path=f"{language}{n}", language=language) for language, count in counts.items() for n in range(count)
    )


def taken(files: WaitingFiles, known: set[str], elsewhere: set[str], most: int = 10) -> list[str]:
    return [file.path for file in files.take(most, known, elsewhere)]


def test_a_process_stays_with_its_languages():
    files = waiting(ruby=1, go=3, java=9)
    assert taken(files, {"go", "text"}, set(), 2) == ["go0", "go1"]
    assert taken(files, {"go"}, set(), 2) == ["go2"]


def test_then_it_gets_the_largest_language_that_nobody_knows_and_then_text():
    files = waiting(text=WORTH_HELP, cpp=WORTH_HELP, ruby=1, go=2)
    assert taken(files, {"java"}, {"cpp"}) == ["go0", "go1"]
    assert taken(files, {"java", "go"}, {"cpp"}) == ["ruby0"]
    assert taken(files, {"java", "go"}, {"cpp"}, 1) == ["text0"]


def test_it_helps_with_many_files_and_leaves_few_to_the_others():
    files = waiting(cpp=WORTH_HELP, ruby=1)
    assert taken(files, {"java"}, {"cpp", "ruby"}) == [f"cpp{n}" for n in range(10)]
    assert taken(files, {"java"}, {"cpp", "ruby"}) == []
    assert files
    assert taken(files, {"java"}, {"ruby"}, 99) == [f"cpp{n}" for n in range(10, WORTH_HELP)]


def test_files_that_were_not_parsed_come_first_again():
    files = waiting(go=4)
    got = files.take(3, set(), set())
    files.put_back(got[1:])
    assert taken(files, set(), set()) == ["go1", "go2", "go3"]
    assert not files
