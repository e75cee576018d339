"""Rules of people apply by their scope, the most specific last."""

from __future__ import annotations

import subprocess

import pytest

from graphmem.maintenance.place import prepare_data_dir
from graphmem.memory.files.rules import _matches, endings, rules


def test_rules_apply_by_scope_the_most_specific_last(tmp_path):
    home, root = tmp_path / "home", tmp_path / "project"
    (home / ".graphmem").mkdir(parents=True)
    (home / ".graphmem" / "rules.md").write_text("Answer in English.\n")
    folder = root / ".graphmem" / "rules"
    folder.mkdir(parents=True)
    (folder / "b-all.md").write_text("Be brief.\n")
    (folder / "a-api.md").write_text("<!-- scope: api/**/*.py -->\nNo SQL in `views`.\n")
    found, notes = rules(root, home, ["api/v1/views.py"])
    assert [(rule.name, rule.origin) for rule in found] == [("rules", "user"), ("b-all", "project"), ("a-api", "project")]
    assert found[-1].text == "No SQL in `views`."
    assert notes == []
    assert [rule.name for rule in rules(root, home, ["web/app.ts"])[0]] == ["rules", "b-all"]
    assert len(rules(root, home)[0]) == 3


def test_a_rule_of_the_project_replaces_the_users_of_the_same_name(tmp_path):
    home, root = tmp_path / "home", tmp_path / "project"
    for place, text in ((home, "Answer in English."), (root, "Answer in French.")):
        (place / ".graphmem" / "rules").mkdir(parents=True)
        (place / ".graphmem" / "rules" / "language.md").write_text(text)
    (home / ".graphmem" / "rules" / "mine.md").write_text("Be brief.")
    assert [(one.name, one.origin, one.text) for one in rules(root, home)[0]] == [
        ("mine", "user", "Be brief."),
        ("language", "project", "Answer in French."),
    ]
    assert [one.text for one in rules(None, home)[0]] == ["Answer in English.", "Be brief."]
    # a rule whose scope does not fit still replaces the other, or two projects' worth of rules would apply by turns
    (root / ".graphmem" / "rules" / "language.md").write_text("<!-- scope: *.fr -->Answer in French.")
    assert [one.name for one in rules(root, home, ["a.py"])[0]] == ["mine"]


@pytest.mark.parametrize(
    ("scope", "found"),
    [("**/*.ts", {"ts"}), ("*.TS, **/*.tsx", {"ts", "tsx"}), ("api/*.ts", set()), ("*.ts, api/*.py", set()), ("", set())],
)
def test_a_scope_may_name_whole_languages(scope, found):
    assert endings(scope) == found


def test_git_sees_the_rules_of_a_project_and_nothing_else_of_its_index(project):
    root, memory = project
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    (root / ".graphmem" / "rules").mkdir()
    (root / ".graphmem" / "rules" / "style.md").write_text("Be brief.")
    seen = subprocess.run(["git", "ls-files", "-o", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True).stdout
    assert seen.split() == [".graphmem/rules/style.md", "shop/cart.py"]
    memory.index(root)
    assert not [one for one in memory.files(limit=100)[0] if one.path.startswith(".graphmem")]
    (root / ".graphmem" / ".gitignore").write_text("*\n")  # as an earlier version wrote it
    prepare_data_dir(root / ".graphmem")
    again = subprocess.run(["git", "ls-files", "-o", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True).stdout
    assert again == seen


def test_a_rule_that_leads_out_or_is_too_large_is_named_and_left_out(tmp_path):
    root = tmp_path / "project"
    folder = root / ".graphmem" / "rules"
    folder.mkdir(parents=True)
    (tmp_path / "secret.md").write_text("secret")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "large.md").write_text("x" * (65 << 10))
    (folder / "binary.md").write_bytes(b"\xff\xfe\x00")
    found, notes = rules(root, tmp_path / "nobody")
    assert found == []
    assert len(notes) == 3
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("*.py", "a/b/c.py", True),
        ("api/*.py", "api/v1/x.py", False),
        ("api/**/*.py", "api/x.py", True),
        ("api/**/*.py", "api/v1/v2/x.py", True),
        ("**/test_*.py", "test_x.py", True),
        ("a, b/*.ts", "b/x.ts", True),
        ("**/" * 40 + "x", "/".join("y" * 60), False),
    ],
)
def test_globs(glob, path, fits):
    assert _matches(glob, path) is fits
