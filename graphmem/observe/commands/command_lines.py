"""Find the files of a command line, and whether it reads external text.

External text comes from outside of the project and the machine, such as the text of a web page. An agent must not trust it.
"""

from __future__ import annotations

import itertools
import re
import shlex
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from graphmem.observe.commands.programs import LOCAL, PROGRAMS
from graphmem.observe.commands.shell import (
    ASSIGNMENT,
    HEREDOC,
    OPERATORS,
    WEB,
    WORD,
    base,
    own_command,
    unquoted,
    urls_of,
    without_options,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAMED: Final = 160  # characters of a source's name
LONGEST: Final = 4_000  # characters of a command line without inline texts; a longer one is not local
DEEPEST: Final = 4  # nested commands

_NETWORK: Final = re.compile(
    r"urllib|urlopen|requests\b|httpx|aiohttp|http\.client|socket|fetch\s*\(|axios|node:https?|['\"]https?['\"]|XMLHttpRequest|Net::HTTP"
    r"|open-uri|LWP|curl|wget|ftplib|smtplib|imaplib|poplib|paramiko|websocket|subprocess|os\.system|child_process|execSync|popen|shell_exec",
    re.IGNORECASE,
)
_CODE: Final = frozenset({"-c", "-e", "-p", "-r", "-E", "--eval", "--print", "-pe", "-ne", "-lne", "-lane", "-ple"})
_ASKS_ITSELF: Final = frozenset({"--version", "--help", "-V", "-h", "-v", "-version", "version", "help"})
_EXCLUDES: Final = re.compile(r"^--?(?:exclude\S*|ignore\S*|not|path|ipath|wholename|prune|iglob|g|glob|I)$")
_OPTION_WITH_VALUE: Final = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--prefix", "--filter", "--cwd", "--dir", "-w", "--workspace", "-F"}
)
_REMOTE: Final = {"remote": {"-v", "--verbose", "get-url", "add", "remove", "rm", "rename", "set-url"}, "submodule": {"status", "foreach"}}
_SUBSTITUTED: Final = re.compile(r"\$\((?!\()(.*)\)|`([^`]*)`", re.DOTALL)
_QUOTED: Final = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^']*'")
_PLACES: Final = frozenset({"-C", "-d", "-x", "-t", "--directory", "--target-directory", "--exclude"})
"""Options of archives and copies whose value is not a file that is read."""
_PATTERN_FIRST: Final = frozenset(
    [
        "grep",
        "rg",
        "ag",
        "ack",
        "egrep",
        "fgrep",
        "zgrep",
        "findstr",
        "select-string",
        "sed",
        "awk",
        "gawk",
        "mawk",
        "jq",
        "yq",
        "tr",
        "cut",
        "mlr",
    ]
)
_NO_NAME: Final = re.compile(r"[\s()|^$\\{}]")

_PUNCTUATION: Final = ";()<>|&\n"


class Looked(NamedTuple):
    """Files that a command line uses, and the source of external text, if any.

    The field `stranger` names the external source: a program or an input that is not local. `stranger` is "" if everything is local. The
    working directory has no influence on these values.
    """

    stranger: str = ""  # the part that is not local
    reads: tuple[str, ...] = ()  # files and folders whose texts it prints
    written: tuple[str, ...] = ()
    entered: tuple[str, ...] = ()  # folders it changes to


def source_name(kind: str, name: str) -> str:
    """Return one string for an external source: its kind, then its name."""
    return f"{kind} {' '.join(name.split())}"[:NAMED]


def external_folder(path: str) -> str | None:
    """Return the folder of external files that contains a path.

    Returns None if no folder in the path holds external files. An example is `node_modules`; see `grammars/programs.toml`.
    """
    parts = [part.lower() for part in path.split("/")]
    if found := next((part for part in parts if part in PROGRAMS.external_folders), None):
        return found
    return next((pair for pair in map("/".join, itertools.pairwise(parts)) if pair in PROGRAMS.external_folder_pairs), None)


def is_external_package(path: str) -> bool:
    """Whether a folder is directly inside a folder of external packages.

    For example, `node_modules/react` is directly inside `node_modules`. The names of files in such a folder are external text. The
    package's own name is local, because the project chose it.
    """
    return external_folder(path.rstrip("/").rpartition("/")[0]) is not None


@lru_cache(maxsize=4_096)
def looked_at(line: str) -> Looked:
    """Find the files that a command line uses, and a source of external text.

    Each part of the line is judged by `grammars/programs.toml`. One part that is not local makes the whole line external.
    """
    return _looked(line, 0)


def _looked(line: str, depth: int) -> Looked:
    bodies = "\n".join(match.group() for match in HEREDOC.finditer(line)) if "<<" in line else ""
    bare = HEREDOC.sub(" ", line) if bodies else line
    if len(bare) > LONGEST or depth > DEEPEST:
        return Looked(source_name("command", bare[:80]))
    found = Looked()
    for match in _SUBSTITUTED.finditer(_QUOTED.sub(_open_quotes, bare)) if "$(" in bare or "`" in bare else ():
        one = _looked(match[1] or match[2] or "", depth + 1)
        if one.stranger:
            return one
        found = Looked("", (*found.reads, *one.reads), (*found.written, *one.written), (*found.entered, *one.entered))
    for words, written, taken in _simple(bare):
        one = _part(words, bodies, depth)
        if one.stranger:
            return one
        found = Looked("", (*found.reads, *one.reads, *taken), (*found.written, *one.written, *written), (*found.entered, *one.entered))
    return found


def _simple(line: str) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Yield (words, output files, input files) of each simple command.

    `line` is a command line of one or more simple commands. Output and input files are the targets of redirections, such as `> out.txt` and
    `< in.txt`.
    """
    lexer = shlex.shlex(line.replace("\\\n", " "), posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        tokens = list(lexer)
    except ValueError:  # unbalanced quotes
        yield from (([unquoted(word) for word in WORD.findall(part)], [], []) for part in OPERATORS.split(line))
        return
    words: list[str] = []
    written: list[str] = []
    taken: list[str] = []
    into: list[str] | None = None
    is_comment = False
    for token in tokens:
        if token and not set(token) - set(_PUNCTUATION):
            is_comment = is_comment and "\n" not in token
            if is_comment:
                continue
            if ("<" in token or ">" in token) and not set(token) & set("(\n;|"):
                into = [] if "&" in token and not token.startswith("&") else written if ">" in token else taken
                if token.startswith("<<"):
                    into = []
                continue
            into = None
            yield words, written, taken
            words, written, taken = [], [], []
        elif is_comment or (token.startswith("#") and not token.startswith("#!")):
            is_comment = True
        elif into is not None:
            into.append(token)
            into = None
        else:
            words.append(token)
    yield words, written, taken


def _part(words: list[str], bodies: str, depth: int) -> Looked:
    """Find the files of one simple command, and a source of external text.

    Args:
        words: words of the command.
        bodies: texts of the here-documents of the whole line.
        depth: number of commands in which this command is nested, such as 1 inside `bash -c`.
    """
    while words and (
        ASSIGNMENT.match(words[0])
        or base(words[0]) in PROGRAMS.wrappers
        or words[0] in ("timeout", "xargs", "!", "then", "do", "else", "{")
    ):
        if base(words[0]) == "command" and len(words) > 1 and words[1] in ("-v", "-V"):
            return Looked()
        wrapper, words = words[0], words[1:]
        while (
            words
            and wrapper != "!"
            and not ASSIGNMENT.match(wrapper)
            and (words[0].startswith("-") or (wrapper == "timeout" and words[0][:1].isdigit()))
        ):
            takes_value = wrapper == "xargs" and words[0] in ("-I", "-n", "-P", "-L", "-d", "-s")
            takes_value = takes_value or (base(wrapper) == "nice" and words[0] == "-n") or (base(wrapper) == "sudo" and words[0] == "-u")
            words = words[2:] if takes_value else words[1:]
    if not words or words[0] in ("fi", "done", "esac", "}"):
        return Looked()
    program = base(words[0])
    if program in PROGRAMS.shells:
        code = next((word for flag, word in itertools.pairwise(words) if flag.startswith("-") and flag.endswith("c")), None)
        return _looked(code, depth + 1) if code is not None else Looked()
    if program == "eval":
        return _looked(" ".join(words[1:]), depth + 1)
    if program in PROGRAMS.package_runners and len(words) > 1:
        return _run_by(program, words, bodies, depth)
    return _program(program, words, bodies, depth)


def _open_quotes(match: re.Match[str]) -> str:
    """Return a quoted string, or a space if it cannot contain a command.

    `match` is the string in a command line. A string in double quotes is returned, because it may contain a command such as `$(date)`. A
    string in single quotes cannot contain a command.
    """
    return match.group() if match.group().startswith('"') else " "


def _run_by(runner: str, words: list[str], bodies: str, depth: int) -> Looked:
    """Return the files and external source of a program that `npx` or uv runs.

    `words` begin with `runner`, which is `npx`, `uv` or another program that runs programs of packages. Programs in
    `grammars/programs.toml` are local. Any other program counts as external, because it may be downloaded first. `bodies` and `depth` are
    as in `_part`.
    """
    if runner == "uv" and words[1] == "pip":
        return _program("pip", words[1:], bodies, depth)
    if own_command(words) or words[1] in _ASKS_ITSELF:
        return _program(runner, words, bodies, depth)
    rest = [word for word in words[1:] if word not in ("run", "exec", "--", "-y", "--yes", "-q")]
    rest = without_options(rest)
    return _part(rest, bodies, depth) if rest else Looked(source_name("command", " ".join(words)))


def _program(program: str, words: list[str], bodies: str, depth: int) -> Looked:
    rest = words[1:]
    if rest and all(word in _ASKS_ITSELF for word in rest):
        return Looked()
    stranger = Looked(source_name("command", " ".join([program, *(word for word in rest if not word.startswith("-"))][:2])))
    if program in WEB:
        urls = urls_of(" ".join(rest))
        asks_home = not urls and any("://" in word or word.startswith(("localhost", "127.0.0.1")) for word in rest)
        return Looked() if asks_home else Looked(urls[0][:NAMED]) if urls else stranger
    if program in PROGRAMS.subcommands:
        return _subcommand(program, rest, stranger)
    if program in PROGRAMS.script_runners:
        sub = _first(rest)
        if program in ("bun", "deno") and sub.endswith(PROGRAMS.script_endings):
            return Looked()
        return stranger if not sub or sub in PROGRAMS.fetching else Looked()
    if program in PROGRAMS.interpreters or program.startswith(("python3.", "python2.")):
        return _interpreted(program, rest, bodies, depth, stranger)
    if program in ("cd", "pushd"):
        return Looked(entered=tuple(word for word in rest[:1] if not word.startswith("-")))
    if program == "find" and (at := next((i for i, word in enumerate(rest) if word in ("-exec", "-execdir", "-ok")), None)) is not None:
        done = _part([word for word in rest[at + 1 :] if word not in ("{}", ";", "+", "\\;")], bodies, depth + 1)
        folders = takewhile(lambda word: not word.startswith(("-", "(", "!")), rest)
        return done._replace(reads=(*done.reads, *folders))
    if program in PROGRAMS.carriers:
        return _carried(program, rest)
    if program in PROGRAMS.listers:
        named = takewhile(lambda word: word[:1] not in ("-", "(", "!"), rest) if program == "find" else _operands(program, rest)
        return Looked(reads=tuple(word for word in named if is_external_package(word)))
    if program in PROGRAMS.readers:
        return Looked(reads=tuple(_operands(program, rest)))
    if program in LOCAL:
        return Looked()
    is_own = "/" in words[0] and words[0][0] not in "/~" and not words[0].startswith("../") and external_folder(words[0]) is None
    return Looked() if is_own or words[0].endswith(PROGRAMS.own_script_endings) else stranger


def _subcommand(program: str, rest: Sequence[str], stranger: Looked) -> Looked:
    sub = _first(rest)
    if program == "git" and sub in _REMOTE:
        after = list(rest)[list(rest).index(sub) + 1 :]
        return Looked() if not after or after[0] in _REMOTE[sub] else stranger
    if program == "git" and sub == "archive":
        return stranger if any(word.startswith("--remote") for word in rest) else Looked()
    if sub not in PROGRAMS.subcommands[program] and (sub or program in ("npm", "bundle", "composer")):
        return stranger
    if program == "git":
        place = tuple(word for flag, word in itertools.pairwise(rest) if flag == "-C")
        reads = tuple(word for word in rest if "/" in word and word[0] in "/~") if "--no-index" in rest else ()
        return Looked(reads=(*place, *reads), entered=place)
    return Looked()


def _interpreted(program: str, rest: Sequence[str], bodies: str, depth: int, stranger: Looked) -> Looked:
    """Find the files of an interpreter's command, and its external source.

    Code from outside of the project and the machine is external. For example, `python` runs one of these:

    - a file, which is local;
    - a module, which is external if `modules` in `grammars/programs.toml` lists it;
    - inline code or standard input, which are external if they use the network. Otherwise, the result has the paths in the code that lead
      to folders of external files, such as `node_modules`;
    - the module `pip`, which is judged by its subcommand.

    Args:
        program: the interpreter.
        rest: the words after the program.
        bodies: the here-documents of the line.
        depth: nesting of the command, as in `_part`.
        stranger: returned for a subcommand of `pip` that is external, such as `install`.
    """
    if "-m" in rest[:-1] and re.fullmatch(PROGRAMS.module_interpreters, program):
        at = list(rest).index("-m")
        module = rest[at + 1]
        if module in ("pip", "pip3"):
            return _subcommand("pip", rest[at + 2 :], stranger)
        return Looked(source_name("command", f"{program} -m {module}")) if module in PROGRAMS.modules else Looked()
    code = [word for flag, word in itertools.pairwise(rest) if flag in _CODE]
    if code or not any(not word.startswith("-") for word in rest):
        text = "\n".join([*code, *([] if code else [bodies])])
        if _NETWORK.search(" ".join([text, *rest])) or urls_of(text):
            return Looked(source_name("command", f"{program} {rest[0] if rest else ''}"))
        return Looked(
            reads=tuple(
                dict.fromkeys(word for word in re.findall(r"['\"]([^'\"\n]{2,300})['\"]", text) if external_folder(word) is not None)
            )
        )
    return Looked()


def _operands(program: str, rest: Sequence[str]) -> Iterator[str]:
    """Yield the file arguments of a program that prints files, such as `grep`.

    `rest` are the words after the program. Options and search patterns are left out.
    """
    skip = False
    is_pattern = program in _PATTERN_FIRST and not any(word in ("-e", "-f", "--regexp", "--file", "--expression") for word in rest)
    for word in rest:
        if skip:
            skip = False
        elif word.startswith("-") and word != "-":
            skip = _EXCLUDES.match(word) is not None or (word in ("-e", "--regexp", "--expression") and program in _PATTERN_FIRST)
        elif is_pattern:
            is_pattern = False
        elif word[:1] not in ("!", "$") and not _NO_NAME.search(word):
            yield word


def _carried(program: str, rest: Sequence[str]) -> Looked:
    """Return the files that `cp`, `mv` or an archiver reads and writes.

    `rest` are the words after the program. For a command that creates an archive, the result is empty, because the command prints no text
    of the files.
    """
    options = [word for word in rest if word.startswith("-") and word != "-"]
    flags = "".join(word for word in (*options, *(rest[:1] if program == "tar" else ())) if not word.startswith("--"))
    named = [
        word
        for before, word in zip(("", *rest), rest, strict=False)
        if word not in options and before not in _PLACES and not _NO_NAME.search(word) and word[:1] != "$"
    ]
    if program == "tar":
        is_made = "c" in flags or "r" in flags or not {"--create", "--append"}.isdisjoint(options)
        return Looked() if is_made else Looked(reads=tuple(word for word in named if word != rest[0]))
    if program in ("gzip", "bzip2", "xz") and not set(flags) & set("dc"):
        return Looked()
    if program in ("cp", "mv", "ln", "install") and not {"-t", "--target-directory"} & set(options):
        return Looked(reads=tuple(named[:-1]), written=tuple(named[-1:]))
    return Looked(reads=tuple(named[:1] if program == "unzip" else named))


def _first(rest: Sequence[str]) -> str:
    """Return the subcommand of a program, such as `commit` of `git commit`.

    `rest` has the words after the name of the program. The subcommand is the first word that is not an option or an option's value.
    """
    skip = False
    for word in rest:
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in _OPTION_WITH_VALUE
        else:
            return word
    return ""
