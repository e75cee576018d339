"""Classify a command line: does it read, search, edit, test or run?

The other classes are: list files, and read from the web. A command that is not recognised has the class `run`. The line is split at its
operators outside quotes. Each part is classified by its first words, with one table. Files that git reverts are noted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from graphmem.memory.texts.redact import redact
from graphmem.observe.commands.programs import PROGRAMS

COMMAND_CHARACTERS: Final = 200  # maximum length of a stored command line
MAX_PARTS: Final = 40
ALL_FILES: Final = "*"  # in `reverted`: all uncommitted changes


class Command(NamedTuple):
    """A classified command line: its class, files, pattern and addresses."""

    action: str  # of its most important part
    line: str  # without `cd …`, redirections and pagers, with single spaces, not redacted
    label: str  # the program and its subcommand: "pytest", "npm run build", "alembic upgrade"
    paths: tuple[str, ...] = ()  # files that it reads, edits or reverts, as written
    pattern: str = ""  # search pattern
    urls: tuple[str, ...] = ()
    reverted: tuple[str, ...] = ()  # files restored from git, as written; ALL_FILES
    web: bool = False  # a part of it reads from the web
    folders: tuple[str, ...] = ()  # listed or searched
    removed: tuple[str, ...] = ()  # files that it deletes, or moves to another place


# The most important first: it is the action of a line with several parts.
_WEIGHT: Final = ("test", "edit", "web", "run", "search", "read", "list")

_READ: Final = frozenset({"cat", "head", "tail", "less", "more", "bat", "nl", "view", "type", "gc", "get-content"})
_SEARCH: Final = frozenset({"grep", "rg", "ag", "ack", "egrep", "fgrep", "zgrep", "findstr", "select-string"})
_LIST: Final = frozenset({"ls", "tree", "find", "fd", "fdfind", "dir", "get-childitem", "exa", "eza"})
WEB: Final = frozenset({"curl", "wget", "http", "https", "lynx", "w3m", "links", "invoke-webrequest", "iwr"})
_OWN_RUNNER: Final = re.compile(r"(?:run_?)?tests?(?:_\w+)?\.py$")  # a project's own script that runs tests
_TASK_OF_TESTS: Final = re.compile(r"(?:[\w@/.-]+:)?(?:tests?|check|spec|e2e)(?:[:_-].*)?\Z|tests?\w*\Z|unit[-_]?tests?\Z|[\w-]+:tests?\Z")
_QUIET: Final = frozenset(
    {"cd", "pushd", "popd", "export", "set", "source", ".", "echo", "printf", "true", "false", "wait", "sleep", "mkdir", "pwd"}
)
_WRITERS: Final = frozenset({"cat", "echo", "printf", "tee"})  # with a redirection
_PAGERS: Final = frozenset(
    {"head", "tail", "less", "more", "cat", "tee", "wc", "sort", "uniq", "column", "sed", "awk", "cut", "tr", "xargs", "jq"}
)
_TRACKERS: Final = {("gh", "issue"), ("gh", "pr"), ("gh", "api"), ("gh", "search"), ("gh", "gist"), ("glab", "issue"), ("glab", "mr")}

OPERATORS: Final = re.compile(r"&&|\|\||[;\n]|(?<!\|)\|(?!\|)")
WORD: Final = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|(?:\\.|[^\s'"\\])+""")
HEREDOC: Final = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?[\s\S]*?(?:\n\1\b|\Z)")
_REDIRECT: Final = re.compile(r"""(?:\d?>>?|&>)\s*(?!&|/dev/null)("[^"]*"|'[^']*'|[^\s;|&<>]+)""")
_NOISE: Final = re.compile(r"\s*(?:\d?>&\d|\d?>\s*/dev/null|&>\s*/dev/null|\s&\s*$)")
_URL: Final = re.compile(r"https?://[^\s'\"<>)\]]+")
_LOCAL: Final = re.compile(
    r"https?://(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1\]|[\w-]+\.(?:local|internal|test))(?=[:/?#]|$)", re.IGNORECASE
)
_QUOTED: Final = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.""", re.DOTALL)
_SIGNS: Final = "&|;\n<>"  # they separate or redirect commands, except in quotes
_MASKED: Final = str.maketrans(_SIGNS, "".join(chr(0xF8F0 + i) for i in range(len(_SIGNS))))  # characters for private use
_UNMASKED: Final = {mask: sign for sign, mask in _MASKED.items()}
ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=\S*\Z")
_PATCHED: Final = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_LOOKS_LIKE_FILE: Final = re.compile(r"[\w@.~/\\+-]*\.[A-Za-z0-9]{1,8}\Z|(?:[\w@.+-]+/)+[\w@.+-]+\Z")


_LABEL: Final = re.compile(r"[\w@.:/+-]{1,30}(?: [\w@.:/+-]{1,30}){0,2}\Z")


def urls_of(text: str) -> tuple[str, ...]:
    """Return the URLs in a command or its output, except local ones.

    Local URLs lead to this machine or the local network.
    """
    return tuple(dict.fromkeys(url.rstrip(".,;:!?") for url in _URL.findall(text) if not _LOCAL.match(url))) if "://" in text else ()


def command_of(line: str) -> Command:
    """Classify a command line by its words.

    Secrets are redacted before the line is split, because a secret is recognised by the words around it.
    """
    line = redact(line)[0]
    patched = tuple(one.strip() for one in _PATCHED.findall(line)) if "*** " in line else ()
    bare = _NOISE.sub("", _masked(HEREDOC.sub(" ", line) if "<<" in line else line))
    parts = [_part(part) for part in OPERATORS.split(bare)[:MAX_PARTS]]
    told = [part for part in parts if part.label]
    if patched:
        told.append(Command("edit", "apply_patch", "apply_patch", patched))
    if not told:
        words = " ".join(bare.translate(_UNMASKED).split())
        return Command("run", words, words.split(" ")[0] if words else "")
    # Pagers at the end of a pipe are ignored; alone they read.
    main = [part for i, part in enumerate(told) if i == 0 or part.label not in _PAGERS or part.paths or part.action == "edit"]
    heaviest = min(main, key=lambda part: _WEIGHT.index(part.action))
    same = [part for part in main if part.action == heaviest.action]
    return Command(
        heaviest.action,
        " && ".join(dict.fromkeys(part.line for part in main if part.line)),
        heaviest.label,
        tuple(dict.fromkeys(path for part in same for path in part.paths)),
        next((part.pattern for part in main if part.pattern), ""),
        urls_of(line) if any(part.web for part in main) else (),
        tuple(dict.fromkeys(path for part in main for path in part.reverted)),
        any(part.web for part in main),
        tuple(dict.fromkeys(path for part in main for path in part.folders)),
        tuple(dict.fromkeys(path for part in main for path in part.removed)),
    )


def program_of(line: str) -> str:
    """Return the programs of a command line, with subcommands: `git commit`.

    If the line runs several programs, ` && ` joins them in the result. Other arguments are left out.
    """
    labels = [part.label for part in (_part(one) for one in OPERATORS.split(_masked(HEREDOC.sub(" ", line)))[:MAX_PARTS]) if part.label]
    return " && ".join(dict.fromkeys(label for label in labels if _LABEL.match(label)))[:COMMAND_CHARACTERS]


def line_of(args: Sequence[object] | str) -> str:
    """Convert a command line from an agent's format to one string.

    Agents send a string, or a list such as `["bash", "-lc", "pytest -q"]`.
    """
    if isinstance(args, str):
        return args
    words = [str(word) for word in args]
    if len(words) >= 3 and base(words[0]) in PROGRAMS.shells and words[1].startswith("-") and words[1].endswith("c"):
        return words[2]
    return " ".join(words)


def _masked(line: str) -> str:
    """Mask operators such as `>` inside quotes of a command line.

    A masked operator does not split the line and is not a redirection.
    """
    return _QUOTED.sub(lambda match: match[0].translate(_MASKED), line)


def _part(text: str) -> Command:
    """Classify one simple command, such as `grep -rn name src`."""
    written = [unquoted(name.translate(_UNMASKED)) for name in _REDIRECT.findall(text)] if ">" in text else []
    line = " ".join((_REDIRECT.sub(" ", text) if written else text).split())
    words = [unquoted(word.translate(_UNMASKED)) for word in WORD.findall(line)]
    line = " ".join(line.translate(_UNMASKED).split())
    while words and (ASSIGNMENT.match(words[0]) or base(words[0]) in PROGRAMS.wrappers or words[0] == "timeout"):
        words = words[2:] if words[0] == "timeout" else words[1:]
    if words and base(words[0]) in PROGRAMS.shells and len(words) > 2 and words[1].startswith("-") and words[1].endswith("c"):
        return command_of(words[2])
    while len(words) > 1 and base(words[0]) in PROGRAMS.package_runners and not own_command(words):
        words = without_options([word for word in words[1:] if word not in ("run", "exec", "--")]) or words[1:]
    if not words:
        return Command("run", "", "")
    program = base(words[0])
    rest = [word for word in words[1:] if not word.startswith("-")]
    files = tuple(word for word in rest if _LOOKS_LIKE_FILE.match(word) and "://" not in word)
    label = _label(program, words)
    if written and program in _WRITERS:
        return Command("edit", line, label, tuple(written))
    if program in _QUIET:
        return Command("run", "", "")
    if program == "sed" and not any(word.startswith("-i") or word == "--in-place" for word in words[1:]):
        return Command("read", line, label, files[-1:])
    if program in ("sed", "perl") and any(re.match(r"-[a-z]*i|--in-place", word) for word in words[1:]):
        return Command("edit", line, label, files)
    if program == "git":
        return _git(line, label, words[1:], files)
    if _is_test(program, words):
        return Command("test", line, label)
    if program in _SEARCH:
        return Command("search", line, label, (), *_searched(words[1:]))
    if program in _LIST:
        return Command("list", line, label, folders=tuple(rest[:1]))
    if program in _READ:
        return Command("read", line, label, tuple(rest) if program not in ("head", "tail") else files)
    if program in WEB or (program, rest[0] if rest else "") in _TRACKERS:
        web = program not in WEB or not _URL.search(line) or bool(urls_of(line))
        return Command("web" if web else "run", line, label, web=web)
    if program in ("rm", "mv", "cp", "patch", "touch", "tee", "apply_patch"):
        return Command("edit", line, label, files, removed=_removed(program, files))
    return Command("run", line, label)


def _removed(program: str, files: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that `rm` deletes or `mv` moves, from `files`.

    `files` are all file arguments of `program`. For any other program the result is empty.
    """
    return files if program == "rm" else files[:-1] if program == "mv" and len(files) > 1 else ()


def _git(line: str, label: str, words: Sequence[str], files: tuple[str, ...]) -> Command:
    verb = next((word for word in words if not word.startswith("-")), "")
    if verb == "grep":
        return Command("search", line, label, (), *_searched(words[1:]))
    if verb == "ls-files":
        return Command("list", line, label)
    if verb == "apply":
        return Command("edit", line, label)
    named = tuple(words[words.index("--") + 1 :]) if "--" in words else files
    taken: tuple[str, ...] = ()
    if verb == "restore" and "--staged" not in words:
        taken = tuple(ALL_FILES if one == "." else one for one in (named or tuple(words[1:])) if not one.startswith("-"))
    elif verb == "checkout" and ("--" in words or (files and "-b" not in words) or "." in words):
        taken = tuple(ALL_FILES if one == "." else one for one in named) or (ALL_FILES,)
    elif (verb == "reset" and "--hard" in words) or (verb == "stash" and not {"pop", "apply", "list", "show", "drop"} & set(words)):
        taken = (ALL_FILES,)
    is_kept = "--cached" in words or "-n" in words or "--dry-run" in words
    return Command("run", line, label, reverted=taken, removed=() if is_kept else _removed(verb, files))


def _is_test(program: str, words: Sequence[str]) -> bool:
    """Whether a command, given as program and words, runs tests."""
    rest = [word for word in words[1:] if not word.startswith("-")]
    first = rest[0] if rest else ""
    if program in PROGRAMS.testers:
        return "--collect-only" not in words and not (program == "playwright" and first in ("install", "codegen"))
    if re.fullmatch(PROGRAMS.test_launchers, program):
        module = words[words.index("-m") + 1] if "-m" in words[:-1] else ""
        if not {"test", "tests"}.isdisjoint(module.split(".")) or (not module and _OWN_RUNNER.match(base(first))):
            return True
        return module in PROGRAMS.test_modules or (first.endswith("manage.py") and "test" in rest) or "pytest" in words[1:3]
    if program in PROGRAMS.test_script_runners:
        scripts = (rest[1] if first == "run" and len(rest) > 1 else first, *_scripts_of_workspaces(words[1:]))
        return any(script in ("test", "t", "tst") or script.startswith(("test:", "test-", "e2e")) for script in scripts)
    if program in PROGRAMS.builders:
        return any(word in ("test", "nextest", "verify", "check") and (word != "check" or "gradle" in program) for word in rest[:3])
    if program in PROGRAMS.task_runners:
        return any(_TASK_OF_TESTS.match(word) for word in rest)
    return bool(re.search(r"(?:^|/)(?:run[_-]?)?tests?(?:\.sh|\.py)?$", words[0]))


def without_options(words: Sequence[str]) -> list[str]:
    """Return a command's words without the options before the program it runs.

    `words` follow a runner such as `uv run`. For `--extra dev pytest -q`, the result is `pytest -q`.
    """
    rest = list(words)
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in PROGRAMS.runner_options else rest[1:]
    return rest


def _scripts_of_workspaces(words: Sequence[str]) -> tuple[str, ...]:
    """Return the script that a command runs in one package of a repository.

    For `yarn workspace web test`, `pnpm --filter web test` and `npm -w web run test`, the result is ("test",). For other commands, it is
    (). `words` are the words after the program, such as `yarn`.
    """
    flags = ("--filter", "-F", "-w", "--workspace", "--prefix", "--cwd", "--dir", "-C", "workspace")
    at = max((place for place, word in enumerate(words) if word in flags), default=-1)
    after = [word for word in words[at + 2 :] if not word.startswith("-") and word != "run"] if at >= 0 else []
    return tuple(after[:1])


def own_command(words: Sequence[str]) -> bool:
    """Return whether a tool such as `uv` runs one of its own commands.

    `words` are the words of the command line. The result is True for `poetry add`, `uv pip` and `bundle install`. It is False for `uv run`,
    because that starts another program.
    """
    return words[1] in PROGRAMS.own_subcommands


def _searched(words: Sequence[str]) -> tuple[str, tuple[str, ...], tuple[str, ...], bool, tuple[str, ...]]:
    """Return the pattern and the folders of a search command.

    `words` are the words after the program. The result is (pattern, (), (), False, folders). These are the values of five consecutive
    fields of `Command`, from `pattern` to `folders`.
    """
    takes_value = {"-A", "-B", "-C", "-m", "-g", "-t", "--glob", "--type", "--include", "--exclude", "--exclude-dir", "-f", "--max-count"}
    pattern, folders, skip = "", [], False
    for i, word in enumerate(words):
        if skip:
            skip = False
        elif word in ("-e", "--regexp") and i + 1 < len(words):
            pattern, skip = pattern or words[i + 1], True
        elif word.startswith("-"):
            skip = word in takes_value
        elif not pattern:
            pattern = word
        else:
            folders.append(word)
    return pattern, (), (), False, tuple(folders)


def _label(program: str, words: Sequence[str]) -> str:
    rest = [word for word in words[1:] if not word.startswith("-")]
    if "-m" in words[:-1] and re.fullmatch(PROGRAMS.labelled_by_module, program):
        return words[words.index("-m") + 1]
    if rest and re.fullmatch(PROGRAMS.labelled_by_script, program):
        tail = f" {rest[1]}" if rest[0].endswith("manage.py") and len(rest) > 1 else ""
        return base(rest[0]) + tail
    if program in PROGRAMS.labelled_with_subcommand and rest and len(rest[0]) <= 30:
        return f"{program} {rest[0]}" + (f" {rest[1]}" if rest[0] == "run" and len(rest) > 1 else "")
    return program


def base(word: str) -> str:
    """Return the name of a program without its folder, in lower case.

    For example, `/usr/bin/Python.exe` gives `python`.
    """
    name = word.replace("\\", "/").rpartition("/")[2].lower()
    return name.removesuffix(".exe").removesuffix(".cmd")


def unquoted(word: str) -> str:
    """Return a word of a command line without the quotes around it."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word
