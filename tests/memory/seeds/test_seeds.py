"""A new project has something to tell: its own files seed its first memories."""

from __future__ import annotations

import json

import pytest

from graphmem.memory.files.importers import MAX_BYTES
from graphmem.memory.seeds.seeds import seed_files, seeds_of
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

README = """# Shop

[![build](https://ci/badge.svg)](https://ci)

Shop sells things over HTTP and keeps every order in one append-only ledger file.

## Development

Run `make test` before every commit; the tests need no network.

## Sponsors

Thank you to all sponsors of the code and its tests.
"""
RECORD = """# 3. Keep orders in a ledger

## Status

Accepted

## Context

Orders were lost when two workers wrote at once.

## Decision

Every order is appended to `ledger.jsonl` under a file lock.
"""
WORKFLOW = """on: push
jobs:
  test:
    steps:
      - run: pip install -e .
      - run: pytest -q
      - name: Lint
        run: |
          ruff check .
          echo done
"""
FILES = {
    "README.md": README,
    "AGENTS.md": "## Rules\n\n- Never log the card number of a customer.\n",
    "docs/adr/0003-ledger.md": RECORD,
    "docs/adr/0002-database.md": "# 2. Use a database\n\nStatus: superseded by 3\n\n## Decision\n\nOrders go to a database.\n",
    ".github/workflows/ci.yml": WORKFLOW,
    "pyproject.toml": '[project]\nname = "shop"\nrequires-python = ">=3.11"\ndependencies = ["anyio>=4", "httpx"]\n',
    "package.json": json.dumps({"name": "shop-web", "scripts": {"test": "vitest run"}}),
    "ledger.py": "def append(order):\n    return order\n",
}


def contents(files: dict[str, str]) -> list[str]:
    items, notes, _ = seeds_of(files, seed_files(files))
    assert not notes
    return [one["content"] for one in items]


def test_each_kind_of_file_says_what_a_newcomer_needs() -> None:
    assert contents(FILES) == [
        "About this project: Shop sells things over HTTP and keeps every order in one append-only ledger file.",
        "Run `make test` before every commit; the tests need no network.",
        "Python package shop (pyproject.toml). Python: >=3.11; depends on: anyio, httpx.",
        "JavaScript package shop-web (package.json). scripts: test: `vitest run`.",
        "CI (.github/workflows/ci.yml) runs `pytest -q`; `ruff check .`",
        "Never log the card number of a customer.",
        "Decided: Keep orders in a ledger. Every order is appended to `ledger.jsonl` under a file lock.",
    ]


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("Cargo.toml", '[package]\nname = "b"\nedition = "2021"\n[dependencies]\nserde = "1"\n', "Rust package b (Cargo.toml)"),
        ("go.mod", "module example.org/x\n\ngo 1.22\n\nrequire example.org/y v1.0.0\n", "depends on: example.org/y"),
        ("pom.xml", "<project><artifactId>app</artifactId><modules><module>core</module></modules></project>", "modules: core"),
        ("composer.json", '{"name": "a/b", "require": {"php": ">=8"}}', "PHP package a/b"),
        ("Gemfile", 'gem "rake"\ngem "rspec"\n', "gems: rake, rspec"),
        (
            "Taskfile.yml",
            "version: '3'\nvars:\n  NAME: x\ntasks:\n  docs:gen:\n    cmds:\n      - make\n  py:test:\n    desc: 'runs: tests'\n",
            "tasks: task py:test, task docs:gen.",
        ),
        ("Makefile", "CC := gcc\n.PHONY: test\ntest: build\n\tpytest\nbuild:\n\techo\n", "targets: test, build"),
        ("CMakeLists.txt", "project(tool CXX)\noption(WITH_TLS)\n", "CMake project tool (CMakeLists.txt). options: WITH_TLS"),
        ("README.rst", "Shop\n====\n\n:Version: 1\n\nShop keeps every order in an append-only ledger file.\n", "Shop keeps every order"),
        (
            "README.rst",
            "Shop\n====\n\n..\n    Left out for now, these badges seem broken.\n\n`Shop`_ keeps every order in an append-only ledger.\n",
            "Shop keeps every order",
        ),
        (
            "README.md",
            "# Shop\n\n👉 Deploy it in the cloud and get $200 in free credits!\n\nShop keeps every order in one append-only ledger.\n",
            "Shop keeps",
        ),
        (".gitlab-ci.yml", "test:\n  script:\n    - pip install tox\n    - tox -e py\n", "runs `tox -e py`"),
    ],
)
def test_other_manifests_and_formats(path: str, text: str, said: str) -> None:
    [one] = contents({path: text})
    assert said in one


def test_a_project_with_a_community_is_described_by_its_first_sentence() -> None:
    text = (
        "# Shop\n\nShop is an open source store for books, with a strong community.\n\n* A fast interface for the people who write in it\n"
    )
    assert contents({"README.md": text}) == ["About this project: Shop is an open source store for books, with a strong community."]


def test_a_row_of_links_does_not_describe_a_project() -> None:
    row = "[**Shop**](https://example.org) | [**Live Demo**](https://example.org/demo) | [**The FAQ**](https://example.org/faq) | [X](https://x.com)"
    text = f"# Shop\n\n{row}\n\nShop is a small server for the orders of books.\n"
    assert contents({"README.md": text}) == ["About this project: Shop is a small server for the orders of books."]


def test_placeholders_in_code_are_kept_and_tags_outside_of_it_are_not() -> None:
    text = "# Shop\n\nShop keeps the <b>transport</b> of each kind in `/integrations/<kind>/transport.py`, and its tests beside it.\n"
    [said] = contents({"README.md": text})
    assert said.endswith("Shop keeps the transport of each kind in `/integrations/<kind>/transport.py`, and its tests beside it.")


def test_marks_of_another_markup_are_not_shown() -> None:
    text = "# Shop\n\nShop keeps ``Order`` and :class:`Cart` objects in one ledger, see :py:func:`append` there.\n"
    assert contents({"README.md": text}) == ["About this project: Shop keeps `Order` and `Cart` objects in one ledger, see `append` there."]


def test_a_bold_line_above_a_list_is_a_heading_and_no_rule() -> None:
    text = "**Router (`router.go`)**\n- Matches routes with a radix tree\n\n**Never** log the card number of a customer.\n"
    assert contents({"AGENTS.md": text}) == ["Matches routes with a radix tree", "**Never** log the card number of a customer."]


def test_a_description_in_instructions_is_a_fact_and_an_order_a_preference() -> None:
    files = {
        "CLAUDE.md": "- The `Context` interface represents a request and its response\n- Prefix unused variables with `_` in new code\n"
    }
    items, _, _ = seeds_of(files, seed_files(files))
    assert [one["type"] for one in items] == ["fact", "preference"]


def test_a_sentence_that_only_leads_to_the_next_one_or_is_a_part_of_one_is_left_out() -> None:
    page = "# Contributing\n\nBefore you run the tests, remember how `pytest` resolves names:\n\n- ruff_ to run tasks, such as `lint`\n\n"
    page += "Concretely, `conftest` feeds the tests.\n\nDo you have a nice `config` for the tests?\n\n"
    page += "If this is your first time with `git`, run the tests.\n\n"
    page += "Run `poe test` first thing.\n"
    assert contents({"CONTRIBUTING.md": page}) == ["Run `poe test` first thing."]
    ci = "jobs:\n  test:\n    steps:\n      - run: uv run beet version\n      - run: poe install --no-dev\n      - run: poe test -q\n"
    assert contents({".github/workflows/ci.yaml": ci}) == ["CI (.github/workflows/ci.yaml) runs `poe test -q`"]


def test_encouragement_is_not_a_rule() -> None:
    text = "## Contributing\n\nAlthough, don't worry! The code is tested well.\n\nFormat the code with `ruff format` before a commit.\n"
    assert contents({"CONTRIBUTING.md": text}) == ["Format the code with `ruff format` before a commit."]


def test_a_manifest_that_cannot_be_read_is_named() -> None:
    files = {"pyproject.toml": "[project\n", "package.json": "[]"}
    items, notes, _ = seeds_of(files, seed_files(files))
    assert not items
    assert notes[0].startswith("no memories were seeded from pyproject.toml: ")


def test_a_file_that_is_too_long_is_named_and_what_the_limits_leave_out_is_counted() -> None:
    files = {
        "README.md": "# Shop\n\n" + "x" * (MAX_BYTES + 1),
        "AGENTS.md": "\n".join(f"- Never call the service number {number} from a test of another team." for number in range(200)),
    }
    found = seeds_of(files, seed_files(files))
    assert [one.split(":")[0] for one in found.notes] == ["no memories were seeded from README.md"]
    assert found.made
    assert len(found.made) + found.left_out == 200


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("shop")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with GraphMem.open(root / ".graphmem", root, settings=Settings(embedder="none", git_history=False), keep_warm=False) as memory:
        memory.index(root)
        yield root, memory


def test_memories_are_filtered_by_files_and_by_the_directories_around_them(tmp_path) -> None:
    root = tmp_path / "shop"
    for path in ("cart/price.py", "cart/deep/tax.py", "carton.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("def total():\n    return 1\n")
    with GraphMem.open(root / ".graphmem", root, settings=Settings(embedder="none", git_history=False), keep_warm=False) as memory:
        memory.index(root)
        for path in ("cart/price.py", "cart/deep/tax.py", "carton.py"):
            memory.remember(f"The rule of {path} is that totals are rounded once.", files=[path])
        memory.remember("Taxes are looked up by the name of the country.", symbols=["cart/deep/tax.py:total"])

        def about(*files: str) -> int:
            return len(memory.memories({"files": list(files)}).memories)

        assert [about("cart"), about("cart/"), about("cart/deep"), about("cart/price.py"), about("carton.py")] == [3, 3, 2, 1, 1]


def seeds(memory: GraphMem) -> dict[str, str]:
    return {one.content: one.id for one in memory.memories({"sources": ["seeded"]}, limit=100).memories}


def test_an_index_seeds_a_project_and_follows_its_files(shop) -> None:
    root, memory = shop
    first = seeds(memory)
    assert sorted(first) == sorted(contents(FILES))
    memory.index(root, full=True)
    assert seeds(memory) == first

    start = json.loads(
        memory.hook("claude-code", json.dumps({"session_id": "s1", "hook_event_name": "SessionStart", "cwd": str(root)})).output
    )
    told = start["hookSpecificOutput"]["additionalContext"]
    assert "CI (.github/workflows/ci.yml) runs `pytest -q`" in told
    assert "[^ Memory: README.md #" in told
    assert "card number" not in told  # agents read their instructions by themselves

    # What is learnt comes before, and a person's word takes a seed over.
    memory.remember("Deploys wait for the ledger's nightly backup.", "gotcha")
    kept = memory.parts.injector._finder.kept().standing
    assert memory.memory(kept[0]).source != "seeded"
    mine = memory.remember("Never log the card number of a customer.", source="user_taught").memory
    assert (mine.id, mine.source) == (first["Never log the card number of a customer."], "user_taught")
    forgotten = first["Run `make test` before every commit; the tests need no network."]
    memory.forget(forgotten)

    (root / "AGENTS.md").unlink()
    (root / "docs/adr/0003-ledger.md").unlink()
    (root / "README.md").write_text(README.replace("things", "books"), encoding="utf-8")
    memory.index(root)
    now = seeds(memory)
    assert not any("ledger.jsonl" in one for one in now)
    assert any("sells books" in one for one in now)
    assert not any("sells things" in one for one in now)
    assert forgotten not in now.values()
    assert memory.memory(mine.id).status == "confirmed"


def test_seeds_stay_out_of_the_file_of_memories_and_of_the_team(shop) -> None:
    from graphmem.memory.files.sync import listed
    from graphmem.sharing.rows import is_shared

    _, memory = shop
    rows = [row for row in memory.parts.book.index().all_rows() if row.source == "seeded"]
    assert rows
    assert not any(is_shared(row) for row in rows)
    assert not [one for one in listed(memory.parts.book) if one.source == "seeded"]


def test_what_was_learnt_is_listed_before_what_the_files_of_the_project_say(tmp_path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "README.md").write_text(README, encoding="utf-8")
    with GraphMem.open(tmp_path / "index", settings=Settings(embedder="none")) as memory:
        memory.remember("Ledgers are closed at midnight.", "fact", created_at="2020-01-01T00:00:00Z")
        memory.index(root)
        listed = [one.source for one in memory.memories(sort="newest").memories]
        assert "seeded" not in listed[:1]
        assert set(listed[1:]) == {"seeded"}


def test_the_setting_turns_seeds_off(tmp_path) -> None:
    (tmp_path / "README.md").write_text(README, encoding="utf-8")
    with GraphMem.open(tmp_path / ".graphmem", tmp_path, settings=Settings(embedder="none", seeds=False), keep_warm=False) as memory:
        memory.index(tmp_path)
        assert memory.memories(limit=1).total == 0


def test_a_seed_says_something_that_is_worth_its_tokens() -> None:
    assert contents({"pyproject.toml": "[tool.black]\nline-length = 88\n"}) == [], "a formatter alone says nothing about the project"
    workflow = (
        "jobs:\n  test:\n    steps:\n      - run: tox -e ${{ matrix.env }}\n      - run: tox -e lint\n"
        "      - run: pytest -n 4 --durations 25\n      - run: pytest -v\n"
        "      - run: |\n          version=$(pip list | grep mypy)\n          echo ruff check\n          export TOX=tox\n"
    )
    assert contents({".github/workflows/ci.yml": workflow}) == ["CI (.github/workflows/ci.yml) runs `tox -e lint`; `pytest -v`"]
    folded = (
        'jobs:\n  test:\n    steps:\n      - run: >\n          tox --verbose -e\n          "py312-unit" -vv\n\n      - run: ruff check\n'
    )
    assert contents({".github/workflows/ci.yml": folded}) == [
        'CI (.github/workflows/ci.yml) runs `tox --verbose -e "py312-unit" -vv`; `ruff check`'
    ]
    [about] = contents(
        {"README.rst": "Shop\n====\n\nShop is a small server, first made at `The Mill\n<https://example.org>`_ for its orders.\n"}
    )
    assert about == "About this project: Shop is a small server, first made at The Mill for its orders."
    scripts = {f"lint:{name}": f"eslint {name}" for name in "abcdefgh"} | {"test": "vitest run", "build": "tsc"}
    [package] = contents({"package.json": json.dumps({"name": "web", "scripts": scripts})})
    assert "test: `vitest run`, build: `tsc`, lint:a: `eslint a`" in package
    assert package.endswith("lint:d, lint:e, lint:f, lint:g, lint:h.")


def test_a_session_begins_with_commands_and_not_with_lists_of_dependencies() -> None:
    items, _, _ = seeds_of(FILES, seed_files(FILES))
    begins = [one["content"] for one in items if "orientation" in one["tags"]]
    assert any(one.startswith("CI (") for one in begins)
    assert any("scripts: test" in one for one in begins)
    assert not any("depends on" in one for one in begins)


def test_badges_by_reference_are_not_a_description():
    text = "# Shop\n\n[![jobs-image]][jobs] ![pypi][pypi-image]\n\nShop sells things over HTTP and keeps every order in a file.\n"
    assert contents({"README.md": text}) == ["About this project: Shop sells things over HTTP and keeps every order in a file."]
    assert contents({"README.md": text.replace("image]\n\nShop", "image] Shop")}) == contents({"README.md": text})


def test_manifests_of_examples_do_not_describe_the_project():
    manifest = '[project]\nname = "{}"\nrequires-python = ">=3.11"\n'
    paths = {
        "pyproject.toml": "shop",
        "examples/blog/pyproject.toml": "blog",
        "packages/tests/pyproject.toml": "odd",
        "web/pyproject.toml": "web",
    }
    found = contents({path: manifest.format(name) for path, name in paths.items()})
    assert found == [f"Python package {name} ({path}). Python: >=3.11." for path, name in paths.items() if name in ("shop", "web")]


def test_a_sentence_that_continues_another_is_not_a_fact():
    text = "# Shop\n\n## Development\n\nRun `make lock` before every commit.\n\nAnd it will write `shop.lock`, with all versions.\n"
    assert [one for one in contents({"README.md": text}) if "shop.lock" in one] == []
