"""Files to which imports in JavaScript and TypeScript may lead."""

from __future__ import annotations

import json
from typing import Any

from graphmem.resolution.ecmascript.modules import ModulePaths, candidates
from graphmem.resolution.ecmascript.specifiers import joined, package_of
from graphmem.resolution.interfaces.layout import read_layout


def places(files: dict[str, Any], importer: str, specifier: str) -> list[str]:
    texts = {path: value if isinstance(value, str) else json.dumps(value) for path, value in files.items()}
    return list(ModulePaths(read_layout(texts)[0]).places(importer, specifier))


def test_relative_imports_stay_in_the_root():
    assert places({}, "a/b/c.ts", "../x") == ["a/x"]
    assert places({}, "a.ts", "../../etc/passwd") == []
    assert joined("a", "./b/../c") == "a/c"


def test_the_longest_pattern_of_paths_wins_and_base_url_comes_after():
    config = {"compilerOptions": {"baseUrl": "src", "paths": {"*": ["any/*"], "@/*": ["*"], "@/lib/*": ["library/*", "other/*"]}}}
    assert places({"tsconfig.json": config}, "src/a.ts", "@/lib/x") == ["src/library/x", "src/other/x", "src/@/lib/x"]


def test_paths_without_a_base_url_count_from_their_file():
    files = {
        "app/tsconfig.json": {"extends": ["../base/tsconfig.shared.json"]},
        "base/tsconfig.shared.json": {"compilerOptions": {"paths": {"~": ["./home"]}}},
    }
    assert places(files, "app/x.ts", "~") == ["base/home"]
    assert places(files, "other/x.ts", "~") == []


def test_configurations_that_extend_each_other_end():
    files = {
        "tsconfig.json": {"extends": "./tsconfig.b"},
        "tsconfig.b.json": {"extends": "./tsconfig.json", "compilerOptions": {"baseUrl": "x"}},
    }
    assert "x/a" in places(files, "a.ts", "a")


def test_comments_and_nonsense_in_configurations_do_no_harm():
    assert places({"tsconfig.json": '{ // c\n "compilerOptions": { "baseUrl": "." /* d */, }, }'}, "a/b.ts", "c/d") == ["c/d"]
    assert (
        places({"tsconfig.json": "[", "package.json": '["x"]', "jsconfig.json": '{"compilerOptions": 3, "extends": 4}'}, "a.ts", "b") == []
    )


def test_a_package_of_the_repository_is_found_by_name_and_from_what_it_builds():
    files = {"libs/core/package.json": {"name": "@a/core", "exports": {".": {"import": "./dist/main.mjs"}, "./*": "./dist/*.js"}}}
    assert "libs/core/src/main" in places(files, "app/x.ts", "@a/core")
    assert "libs/core/src/deep/one" in places(files, "app/x.ts", "@a/core/deep/one")
    assert places(files, "app/x.ts", "@a/other") == []


def test_a_relative_import_of_what_a_build_writes_leads_to_its_source():
    files = {"package.json": {"name": "a"}, "packages/b/package.json": {"name": "b"}}
    assert places(files, "packages/b/bin/run.js", "../dist/cli.js") == [
        "packages/b/dist/cli.js",
        "packages/b/src/cli",
        "packages/b/lib/cli",
        "packages/b/cli",
    ]
    assert places(files, "bin/run.js", "../packages/b/dist/cli.js") == ["packages/b/dist/cli.js"]
    assert places({}, "bin/run.js", "../dist/cli.js") == ["dist/cli.js"]


def test_a_program_needs_no_suffix():
    layout = read_layout({"package.json": '{"bin": {"a": "./bin/a"}}'})[0]
    assert ModulePaths(layout).entry_files()["bin/a"] == "command"


def test_file_names_are_tried_in_the_language_of_the_importer():
    assert next(iter(candidates("a/b.js", "x.ts"))) == "a/b.ts"
    assert next(iter(candidates("a/b.js", "x.js"))) == "a/b.js"
    tried = list(candidates("a/b", "x.tsx"))
    assert tried.index("a/b.ts") < tried.index("a/b.js") < tried.index("a/b/index.js")
    assert package_of("@a/b/c/d") == ("@a/b", "c/d")


def test_of_packages_of_one_name_the_workspace_has_the_one_that_is_meant():
    package = {"name": "core", "main": "index.js"}
    copies = {"examples/a/package.json": package, "libs/core/package.json": package, "test/fixtures/core/package.json": package}
    npm = {"package.json": {"workspaces": ["libs/*"]}}
    yarn = {"package.json": {"workspaces": {"packages": ["**/core", "!test/**"]}}}
    pnpm = {"pnpm-workspace.yaml": "# all\npackages:\n  - 'libs/*'  # ours\n  - \"!test/**\"\ncatalog:\n  - test/fixtures/core\n"}
    for workspace in (npm, yarn, pnpm):
        assert places({**copies, **workspace}, "app/x.js", "core")[0] == "libs/core/index.js"
    assert places(copies, "app/x.js", "core")[0] == "examples/a/index.js", "without a workspace the first of the shallowest"


def test_a_folder_may_say_which_file_it_is():
    assert "lib/parts/main.js" in places({"lib/parts/package.json": {"main": "./main.js"}}, "lib/a.js", "./parts")


def test_the_first_configuration_of_a_chain_is_the_one_paths_may_count_from():
    files = {
        "tsconfig-base.json": {"compilerOptions": {"paths": {"@/*": ["${configDir}/src/*"]}}},
        "app/tsconfig.json": {"extends": "../tsconfig-base.json"},
    }
    assert places(files, "app/x.ts", "@/y")[0] == "app/src/y"


def test_solutions_and_packages_share_configurations():
    files = {
        "package.json": {"workspaces": ["packages/*"]},
        "packages/config/package.json": {"name": "@acme/config"},
        "packages/config/tsconfig.lib.json": {"extends": "@acme/config", "compilerOptions": {"paths": {"~/*": ["./shared/*"]}}},
        "app/tsconfig.json": {"files": [], "references": [{"path": "./tsconfig.app.json"}]},
        "app/tsconfig.app.json": {"extends": "@acme/config/tsconfig.lib", "compilerOptions": {"baseUrl": "src"}},
    }
    found = places(files, "app/main.ts", "~/x")
    assert found == ["packages/config/shared/x", "app/src/~/x"]


def test_a_package_that_names_built_files_leads_to_the_sources_of_its_configuration():
    package = {"name": "engine", "exports": {"types": "./build/engine.d.ts", "import": "./wrapper.mjs"}}
    files = {
        "libs/engine/package.json": package,
        "libs/engine/tsconfig.json": {"compilerOptions": {"rootDir": "code/", "outDir": "build/"}},
    }
    assert places(files, "app/x.ts", "engine")[:2] == ["libs/engine/build/engine.d.ts", "libs/engine/code/engine"]
    assert "libs/engine/code/engine" in places(files, "libs/engine/wrapper.mjs", "./build/engine.js")


def test_the_folder_of_declarations_and_the_root_of_a_package_lead_to_sources_too():
    package = {"name": "lit", "main": "lit.js", "types": "./types/lit.d.ts"}
    options = {"rootDir": "./code", "outDir": ".", "declarationDir": "types"}
    files = {"libs/lit/package.json": package, "libs/lit/tsconfig.json": {"compilerOptions": options}}
    found = places(files, "app/x.js", "lit")
    assert found[:2] == ["libs/lit/lit.js", "libs/lit/code/lit"]
    assert found[2:4] == ["libs/lit/types/lit.d.ts", "libs/lit/code/lit"]


def test_without_a_root_the_folder_of_all_listed_sources_is_the_root():
    def sources(**config: Any) -> list[str]:
        options = {"outDir": "made", **config.pop("options", {})}
        files = {"a/package.json": {"name": "a", "main": "made/b/c.js"}, "a/tsconfig.json": {"compilerOptions": options, **config}}
        return [place for place in places(files, "x.ts", "a") if place.endswith("b/c")]

    assert sources(include=["code/**/*", "globals.d.ts"]) == ["a/code/b/c"]
    assert sources(include=["code"], files=["test/run.ts"]) == ["a/b/c"]
    assert sources(include=["code"], options={"composite": True}) == ["a/b/c"]
    assert sources() == []


def test_the_output_of_an_inherited_configuration_counts_from_its_own_file():
    files = {
        "tsconfig.base.json": {"compilerOptions": {"rootDir": "${configDir}/code", "outDir": "${configDir}/made"}},
        "libs/a/tsconfig.json": {"extends": "../../tsconfig.base.json"},
        "libs/a/package.json": {"name": "a", "main": "./made/a.js"},
    }
    assert places(files, "x.ts", "a")[1] == "libs/a/code/a"


def test_without_a_configuration_the_source_of_a_built_file_may_be_in_lib():
    assert "libs/a/lib/main" in places({"libs/a/package.json": {"name": "a", "main": "./build/cjs/main.js"}}, "x.js", "a")
