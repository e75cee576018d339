"""Derive facts from a path: the file's module, and whether it is config."""

from __future__ import annotations

from typing import Final


def module_of(path: str) -> str:
    """Return the module of a file: its folder, at most two levels deep.

    The module of `src/auth/tokens.py` is `src/auth`. The module of a file at the root is ".".
    """
    parts = path.split("/", 3)[:-1] if path.count("/") < 3 else path.split("/", 3)[:3]
    return "/".join(parts[:2]) or "."


_CONFIG_NAMES: Final = frozenset(
    {
        "package.json", "tsconfig.json", "pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini", "cargo.toml", "go.mod",
        "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "makefile", "cmakelists.txt", "dockerfile", "gemfile",
        "composer.json", "requirements.txt", "alembic.ini", "manage.toml", "procfile", "angular.json", "nx.json", "turbo.json",
        "deno.json", "jsconfig.json", ".eslintrc", ".babelrc", ".prettierrc", ".editorconfig", ".env", ".npmrc", "application.properties",
    }
)  # fmt: skip
_CONFIG_ENDINGS: Final = (".toml", ".ini", ".cfg", ".yaml", ".yml", ".conf", ".properties", ".env")
_CONFIG_PARTS: Final = (".config.js", ".config.ts", ".config.mjs", ".config.cjs", "docker-compose", ".env.", ".eslintrc.", "tsconfig.")
_LOCKS: Final = frozenset({"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "cargo.lock", "uv.lock", "gemfile.lock"})


def is_config(path: str) -> bool:
    """Whether a file is configuration; the result is False for lock files."""
    name = path.rpartition("/")[2].lower()
    if name in _LOCKS:
        return False
    return name in _CONFIG_NAMES or name.endswith(_CONFIG_ENDINGS) or any(part in name for part in _CONFIG_PARTS)
