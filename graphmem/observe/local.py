"""Tables of tools and programs whose output is always local text.

Local text comes from the project, its people or the program itself. A source that is not in these tables counts as external. Examples are
an unknown tool, a package manager, the client of an issue tracker, and a container's logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# ---- tools of agents. Lower case, only letters and digits. Tools that read, edit, search, list, run and test are in
# `observe.tools` and are judged by their subject.

TOOLS: Final = _words(
    # plans, task lists, questions to the person
    "todowrite todoread todo writetodos updatetodos updatetodolist plan updateplan planmode enterplanmode exitplanmode planexit "
    "planenter "
    "askuserquestion askuser question requestuserinput think sequentialthinking reportintent setgoal attemptcompletion newtask "
    # the agent's own parts: subagents are observed in the same session, shells are judged when they start
    "task agent dispatchagent taskcreate taskget tasklist taskupdate taskstop skill useskill activateskill slashcommand invalid batch "
    "killshell killbash killterminal writestdin wait sleep toolsearch "
    # of this repository
    "managetodolist geterrors listcodeusages testsearch getdiagnostics getproblems problems diagnostics getchangedfiles "
    "getterminaloutput terminallastcommand lsp rename gotodefinition "
    "findreferences hover documentsymbols gitstatus gitdiff gitlog gitshow gitblame undoedit"
)
SERVERS: Final = _words("graphmem filesystem git serena ide lsp language-server languageserver sequential-thinking sequentialthinking time")
"""MCP servers whose tools are judged by their own names and files."""

# ---- programs of a shell

READERS: Final = _words(
    "cat head tail less more bat nl view type gc get-content sed awk gawk mawk cut tr sort uniq wc column jq yq xmllint diff cmp "
    "comm paste "
    "join fold fmt rev tac od xxd hexdump strings grep rg ag ack egrep fgrep zgrep zcat findstr select-string file tee base64 pr expand "
    "iconv csvcut mlr"
)
"""Programs that print files: their arguments are examined."""

LISTERS: Final = _words("ls tree find fd fdfind dir get-childitem exa eza")
"""Programs that print names of files: only package folders are checked."""

CARRIERS: Final = _words("cp mv ln install tar unzip gzip gunzip bzip2 bunzip2 xz unxz")
"""Programs that print, unpack or copy files: their sources are examined."""

PROGRAMS: Final = (
    READERS
    | LISTERS
    | CARRIERS
    | _words(
        # files and folders
        "ls tree find fd fdfind dir get-childitem exa eza cd pushd popd pwd stat du df basename dirname realpath readlink touch mkdir "
        "rm rmdir mv "
        "cp ln chmod chown mktemp md5sum sha1sum sha256sum shasum cksum sum tar zip unzip gzip gunzip bzip2 xz patch apply_patch "
        "install split "
        "truncate test [ [[ "
        # the shell and the machine
        "echo printf true false : exit return break continue export set unset alias source . eval if then else elif fi for do done "
        "while until "
        "case esac in { } ! function local declare typeset readonly shift trap read let ulimit umask hash history wait sleep jobs bg fg "
        "which whereis type command whoami id groups date uname hostname uptime printenv ps top kill pkill pgrep lsof free nproc arch "
        "locale tput "
        "seq yes expr bc clear reset sync getconf tty stty "
        # builds, compilers, checks
        "make gmake ninja cmake meson bazel buck just task poe poethepoet inv invoke doit moon rake gradle gradlew mvn "
        "mvnw sbt ant gcc g++ cc c++ clang clang++ ld ar nm "
        "objdump "
        "clang-format clang-tidy javac java kotlinc scalac rustc rustfmt gofmt goimports golangci-lint staticcheck swiftc xcodebuild "
        "tsc tsx "
        "ts-node biome eslint prettier stylelint oxlint webpack vite rollup esbuild turbo nx lerna ruff mypy pyright flake8 pylint "
        "black isort bandit "
        "pyupgrade autopep8 yapf vulture rubocop standardrb sorbet phpstan psalm shellcheck shfmt hadolint markdownlint yamllint "
        "taplo pre-commit "
        "sphinx-build mkdocs protoc buf alembic flask django-admin rails elixir dialyzer erl coverage gcov lcov "
        # tests
        "pytest py.test tox nox jest vitest mocha ava karma cypress playwright rspec phpunit pest ctest bats gotestsum nose2 behave "
        "unittest "
        "hypothesis locust "
        # this product
        "graphmem"
    )
)
INTERPRETERS: Final = _words("python python2 python3 pypy pypy3 node nodejs ruby perl php lua deno bun tsx ts-node irb py")
"""Interpreters: the file or the inline code that they run is examined."""

SUBCOMMANDS: Final[Mapping[str, frozenset[str]]] = {
    "git": _words(
        "status log diff show blame annotate grep ls-files ls-tree cat-file rev-parse rev-list branch tag stash add commit checkout "
        "switch "
        "restore reset rm mv merge rebase cherry-pick revert bisect describe shortlog reflog worktree config apply notes init "
        "clean diff-tree "
        "diff-index diff-files merge-base name-rev for-each-ref symbolic-ref update-index update-ref whatchanged format-patch gc fsck "
        "count-objects check-ignore check-attr hash-object write-tree var version help range-diff cherry sparse-checkout"
    ),
    "npm": _words("test t tst run run-script start stop restart ls list ll prefix root bin version pkg explain why config get"),
    "cargo": _words("test t build b check c clippy fmt run r bench doc tree metadata nextest clean version locate-project"),
    "go": _words("test build vet run fmt list env version tool generate clean work"),
    "dotnet": _words("test build run format clean list"),
    "swift": _words("test build run"),
    "mix": _words("test compile format credo dialyzer run phx.routes ecto.migrate"),
    "dart": _words("test analyze format run"),
    "flutter": _words("test analyze format"),
    "zig": _words("test build fmt run"),
    "composer": _words("test run-script validate"),
    "bundle": _words("exec list check config"),
    "pip": _words("list freeze check config"),
    "pip3": _words("list freeze check config"),
    "uv": _words("run version"),
    "poetry": _words("run check version env"),
    "docker": _words("ps images version info"),
    "terraform": _words("fmt validate"),
    "mise": _words("run r tasks watch fmt ls current"),
    "ng": _words("test build lint serve e2e run version"),
    "stack": _words("test build bench exec run ghci"),
    "cabal": _words("test build bench exec run repl check"),
    "dune": _words("test build runtest exec fmt clean"),
    "lein": _words("test run compile check"),
    "rebar3": _words("eunit ct compile dialyzer xref"),
    "hatch": _words("test fmt version"),
    "rye": _words("test lint fmt version"),
}
"""Programs of which only these subcommands are local."""

FETCHING: Final[Mapping[str, frozenset[str]]] = {
    name: _words(
        "add install i ci up update upgrade upgrade-interactive info view v show search s audit outdated dlx create init link "
        "publish import "
        "fetch npm x exec rebuild dedupe why-not login whoami patch approve-builds"
    )
    for name in ("yarn", "pnpm", "bun", "deno")
}
"""Programs that run the project's scripts: all but these are local.

Without a subcommand they install, which is not local either.
"""

MODULES: Final = _words("pip pipx ensurepip conda httpie http.client webbrowser requests urllib.request smtplib ftplib telnetlib")
"""Modules of `python -m` that are not local."""

# ---- files

FOLDERS: Final = _words(
    "node_modules site-packages dist-packages bower_components jspm_packages vendor third_party third-party thirdparty external_packages "
    "__pypackages__ .venv venv virtualenv .tox .nox .eggs pods carthage .pub-cache .cargo .rustup .m2 .gradle .ivy2 .npm .yarn "
    ".pnpm-store "
    ".nuget .gem .bundle .composer .cache .terraform deps_cache downloads"
)
"""Folders with external files, wherever they are; lower case."""

FOLDER_PAIRS: Final = frozenset({("pkg", "mod"), ("registry", "src"), ("gems", "ruby"), (".git", "modules")})
"""Pairs of nested folders with external files."""

OWN_FILES: Final = (
    ".claude/CLAUDE.md",
    ".claude/plans/",
    ".claude/todos/",
    ".codex/AGENTS.md",
    ".gemini/GEMINI.md",
    ".config/opencode/AGENTS.md",
)
"""Below a home folder: the person's own instructions and agents' plans.

Stored conversations are not included.
"""

SYSTEM: Final = ("/dev/", "/proc/", "/sys/")
"""Folders of the operating system."""

OWN_OUTPUT: Final = ("/tmp/claude-", "/private/tmp/claude-")  # noqa: S108 - names, not used
"""Folders for output of background commands, which were judged at start."""

TEMPORARY: Final = (
    "/tmp/",  # noqa: S108 - names, not used
    "/var/tmp/",  # noqa: S108
    "/private/tmp/",
    "/var/folders/",
    "/private/var/folders/",
    "/dev/shm/",  # noqa: S108
)
"""Temporary folders: a file there is local if the session wrote it."""
