"""Tables of tools and files whose text always counts as local.

Local text comes from the project, its people or the program itself. A source that is not in these tables counts as external. Examples are
an unknown tool, a package manager, the client of an issue tracker, and a container's logs.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# ---- tools of agents. Lower case, only letters and digits. Tools that read, edit, search, list, run and test are in
# `observe.commands.tools` and are judged by their subject.

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

# ---- files

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
