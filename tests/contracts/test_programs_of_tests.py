"""Tests that start a program of the project are tests of the code that the program runs."""

from __future__ import annotations

import pytest

RUST = {
    "Cargo.toml": '[package]\nname = "shop"\nautotests = false\n\n[[test]]\nname = "integration"\npath = "tests/lib.rs"\n',
    "src/main.rs": "fn main() {\n    shop::run();\n}\n",
    "src/lib.rs": "pub fn run() {\n    sum();\n}\n\nfn sum() {}\n\npub fn unused() {}\n",
    "tools/build/main.rs": "fn main() {}\n",
    "contrib/shop.sh": "#!/bin/sh\n",
    "tests/lib.rs": """\
use {crate::test::Test, std::process::Command};

mod alias;
mod test;

const SHOP: &str = env!("CARGO_BIN_EXE_shop");
""",
    "tests/test.rs": """\
use super::*;

pub(crate) struct Test {
    args: Vec<String>,
}

impl Test {
    pub(crate) fn new() -> Self {
        Self { args: Vec::new() }
    }

    pub(crate) fn arg(mut self, value: &str) -> Self {
        self.args.push(value.to_owned());
        self
    }

    pub(crate) fn success(self) {
        Command::new(SHOP).args(&self.args).spawn().unwrap();
    }
}
""",
    "tests/alias.rs": 'use super::*;\n\n#[test]\nfn opens() {\n    Test::new().arg("--open").success();\n}\n\n#[test]\nfn nothing() {}\n',
}
ASSERT_CMD = {
    "Cargo.toml": '[package]\nname = "shop"\n',
    "src/main.rs": "fn main() {\n    sum();\n}\n\nfn sum() {}\n",
    "src/bin/till.rs": "fn main() {\n    pay();\n}\n\nfn pay() {}\n",
    "tests/cli.rs": """\
use assert_cmd::Command;

fn shop() -> Command {
    Command::new(assert_cmd::cargo_bin!("shop"))
}

#[test]
fn sums() {
    shop().arg("sum").assert().success();
}

#[test]
fn pays() {
    Command::cargo_bin("till").unwrap().assert().success();
}
""",
}
NODE = {
    "package.json": '{"name": "shop", "bin": {"shop": "bin/shop.js"}, "scripts": {"test": "node --test"}}',
    "bin/shop.js": '#!/usr/bin/env node\nimport { sum } from "../lib/sum.js";\nsum(process.argv);\n',
    "lib/sum.js": "export function sum(given) {\n  return given.length;\n}\n",
    "test/shop.test.js": """\
import { execFileSync } from "node:child_process";
import path from "node:path";
import test from "node:test";

const cli = path.join(import.meta.dirname, "../bin/shop.js");

test("sums", () => {
  execFileSync("node", [cli, "1", "2"]);
});

test("lists", () => {
  execFileSync("ls", ["shop.json"]);
});
""",
}
GO = {
    "go.mod": "module shop\n",
    "main.go": "package main\n\nfunc main() {\n\trun()\n}\n\nfunc run() {}\n",
    "main_test.go": """\
package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"shop": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata"})
}

func TestNothing(t *testing.T) {}
""",
}


@pytest.fixture
def cases(tmp_path, open_memory):
    """Return a function that indexes a project, and gives the names of the tests of a symbol."""
    root = tmp_path / "repo"

    def ask(files, target):
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        memory = open_memory()
        memory.index(root)
        return {one.symbol.name for one in memory.impact(target).tests if one.symbol.is_runnable}

    return ask


@pytest.mark.parametrize(
    ("files", "target", "names"),
    [
        pytest.param(RUST, "src/lib.rs:sum", {"opens"}, id="one integration test of Cargo, with a helper"),
        pytest.param(RUST, "src/lib.rs:unused", set(), id="code that the program does not run"),
        pytest.param(ASSERT_CMD, "src/main.rs:sum", {"sums"}, id="assert_cmd"),
        pytest.param(ASSERT_CMD, "src/bin/till.rs:pay", {"pays"}, id="a second program"),
        pytest.param(NODE, "lib/sum.js:sum", {"sums"}, id="a script of Node"),
        pytest.param(GO, "main.go:run", {"TestScripts"}, id="testscript"),
    ],
)
def test_tests_that_start_a_program_are_tests_of_its_code(cases, files, target, names):
    assert cases(files, target) == names
