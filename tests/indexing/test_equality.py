"""After any sequence of changes the graph is the one a fresh index of the same tree makes, node by node, edge by edge."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess

import pytest

from graphmem.projection.graph.view import GraphView

WEB = {
    "web/package.json": '{"name": "web", "main": "src/index.ts"}\n',
    "web/tsconfig.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@app/*": ["src/*"]}}}\n',
    "web/src/index.ts": "export * from './routes';\nexport { render as draw } from './view';\n",
    "web/src/routes.ts": (
        "import { Base, helper } from '@app/base';\nimport { draw } from './index';\n\n"
        "export class Route extends Base {\n  match(path: string) {\n    return helper(path) && this.check(path);\n  }\n}\n\n"
        "export function follow(route: Route) {\n  draw(route.match('/'));\n}\n"
    ),
    "web/src/base.ts": (
        "export class Base {\n  check(path: string) {\n    return path.length > 0;\n  }\n}\n\n"
        "export const helper = (path: string) => path.startsWith('/');\n"
    ),
    "web/src/view.tsx": (
        "import { follow } from './routes';\n\nexport function render(x: unknown) {\n  return <div onClick={() => follow(x)} />;\n}\n"
    ),
    "web/src/legacy.js": "const { helper } = require('./base');\nmodule.exports = { run: () => helper('x') };\n",
}


def git(root, *arguments):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main", *arguments]
    subprocess.run(command, cwd=root, check=True, capture_output=True, env=clean)


def lines(memory):
    return [json.dumps(row, sort_keys=True) for row in memory.export()]


@pytest.fixture
def mixed_tree(starlette_tree):
    """A real Python package and a TypeScript one beside it, in a repository with a second branch."""
    for path, text in WEB.items():
        target = starlette_tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    shutil.rmtree(starlette_tree / "starlette" / "middleware")  # half the size, half the time
    git(starlette_tree, "init")
    git(starlette_tree, "add", ".")
    git(starlette_tree, "commit", "-m", "first")
    git(starlette_tree, "switch", "-c", "other")
    (starlette_tree / "starlette" / "routing.py").rename(starlette_tree / "starlette" / "paths.py")
    (starlette_tree / "web" / "src" / "base.ts").rename(starlette_tree / "web" / "src" / "foundation.ts")
    base = starlette_tree / "starlette" / "requests.py"
    base.write_text(base.read_text(encoding="utf-8").replace("class Request(", "class Inquiry("), encoding="utf-8")
    git(starlette_tree, "add", "-A")
    git(starlette_tree, "commit", "-m", "second")
    git(starlette_tree, "switch", "main")
    return starlette_tree


ADDED = {
    ".py": "\n\ndef added_{n}(request):\n    return request.url_for('x')\n",
    ".ts": "\nexport function added_{n}(path: string) {\n  return helper(path);\n}\n",
}
FIRST = {
    ".py": "from starlette.responses import *\nimport starlette.routing as routing\n",
    ".ts": "import * as routes from './routes';\nimport { helper } from './base';\n",
}


KINDS = ["append", "append", "cut", "comment", "import", "rename", "move_folder", "delete", "revert", "switch", "new_name"]


def sources(tree):
    return sorted(path for path in tree.rglob("*") if path.suffix in (".py", ".ts", ".tsx", ".js", ".json") and ".git" not in path.parts)


def change(tree, chooser):
    """One change of a kind that happens while people work; answers what it did."""
    path = chooser.choice(sources(tree))
    text = path.read_text(encoding="utf-8")
    kind = chooser.choice(KINDS)
    suffix = ".py" if path.suffix == ".py" else ".ts"
    if kind == "append":
        path.write_text(text + ADDED[suffix].replace("{n}", str(chooser.randrange(4))), encoding="utf-8")
    elif kind == "cut":
        blocks = text.split("\n\n")
        blocks.pop(chooser.randrange(len(blocks)))
        path.write_text("\n\n".join(blocks), encoding="utf-8")
    elif kind == "comment":
        path.write_text(("# a line\n" if suffix == ".py" else "// a line\n") + text, encoding="utf-8")
    elif kind == "import":
        path.write_text(FIRST[suffix] + text, encoding="utf-8")
    elif kind == "rename":
        path.rename(path.with_name(f"moved_{chooser.randrange(3)}{path.suffix}"))
    elif kind == "move_folder":
        target = tree / f"folder_{chooser.randrange(2)}"
        if path.parent != tree and not target.exists():
            path.parent.rename(target)
    elif kind == "delete" and len(sources(tree)) > 5:
        path.unlink()
    elif kind == "revert":
        git(tree, "checkout", "--", ".")
    elif kind == "switch":
        git(tree, "checkout", "-f", chooser.choice(["main", "other"]))
    elif kind == "new_name":
        path.write_text(text.replace("request", "inquiry").replace("helper", "aid"), encoding="utf-8")
    return f"{kind} {path.name}"


def contents(tree):
    return {str(path.relative_to(tree)): path.read_bytes() for path in tree.rglob("*") if path.is_file() and ".git" not in path.parts}


def watch_commits(memory, monkeypatch):
    """The graphs that answers use while a change is being committed, with that of the database when it is."""
    store, seen = memory.parts.store, []
    apply = store.apply

    def watched(delta, meta=None):
        ahead = memory.parts.projections.graph()
        generation = apply(delta, meta)
        seen.append((ahead, GraphView.from_tables(store.tables())))
        return generation

    monkeypatch.setattr(store, "apply", watched)
    return seen


@pytest.mark.parametrize("seed", range(3))
def test_the_graph_equals_a_fresh_one_whatever_happened_to_the_tree(mixed_tree, open_memory, monkeypatch, seed):
    """Runs look at everything or at what changed, processes come and go, and some runs are given up halfway.

    What answers use before a commit is what the database has after it.
    """
    chooser = random.Random(seed)
    memory = open_memory()
    memory.index(mixed_tree)
    commits = watch_commits(memory, monkeypatch)
    published = 0
    history = []
    for _ in range(6):
        before = contents(mixed_tree)
        history += [change(mixed_tree, chooser) for _ in range(chooser.randrange(1, 4))]
        after = contents(mixed_tree)
        how = chooser.choice(["whole", "some", "some", "restart", "given up"])
        changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        if how == "restart":
            memory.close()
            memory = open_memory()
            commits = watch_commits(memory, monkeypatch)
        elif how == "given up":
            asked = []
            stop_at = chooser.randrange(1, 12)
            try:
                memory.index(cancelled=lambda asked=asked, stop_at=stop_at: asked.append(1) or len(asked) > stop_at)
            except Exception as error:  # noqa: BLE001 - how it ends is another test's business
                history.append(type(error).__name__)
        memory.parts.runs.run(paths=changed if how == "some" else None)
        history.append(how)
        for ahead, committed in commits:
            if ahead.generation == committed.generation:  # else the change was large
                published += 1
                assert ahead.arrays.difference(committed.arrays) == "", history
        commits.clear()
    fresh = open_memory("fresh")
    fresh.index(mixed_tree)
    assert lines(memory) == lines(fresh), history
    assert memory.state().stale_files == 0
    assert published


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_package_clause_that_changes_is_seen_by_the_files_beside_it(tmp_path, open_memory, is_restarted):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.go").write_text("package m\n\nfunc A() int { return B() }\n", encoding="utf-8")
    (tree / "b.go").write_text("package m\n\nfunc B() int { return 1 }\n", encoding="utf-8")
    memory = open_memory()
    memory.index(tree)
    for clause, dependents in (("other", []), ("m", ["A"])):
        if is_restarted:
            memory.close()
            memory = open_memory()
        (tree / "b.go").write_text(f"package {clause}\n\nfunc B() int {{ return 1 }}\n", encoding="utf-8")
        memory.index()
        fresh = open_memory(f"fresh {clause}")
        fresh.index(tree)
        assert lines(memory) == lines(fresh)
        assert [hit.symbol.qualname for hit in memory.impact("b.go:B").hits] == dependents
