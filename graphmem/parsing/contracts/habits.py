"""Conventions by which the code of a language names routes and addresses.

The key `contract_habits` in a language's `conventions.toml` lists them; they are called habits.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from graphmem.runtime.data.conventions import all_conventions, conventions_of

Habit = Literal[
    "added_slashes",  # a route's path may lack the slash at its beginning
    "added_slashes_of_verbs",  # the same, if the method that registers it is a verb in capital letters: `r.GET("users", f)`
    "added_slashes_of_prefixes",  # the prefix of a mounted router may lack it
    "annotations_in_comments",  # comments above a definition may hold annotations
    "blocks_after_calls",  # the block of a call follows its arguments: `get "/x" do … end`
    "calls_without_brackets",
    "chained_prefixes",  # `app.route("/x").get(f)`
    "grouped_prefixes",  # `r.Group("/x").GET("/y", f)`
    "gets_by_default",  # `@app.route("/x")` handles GET
    "handlers_in_strings",  # `[Users::class, "show"]`, `"Users@show"`
    "named_paths",  # constants and functions hold the paths of routes
    "paths_in_objects",  # `{users: "/users"}`
    "relative_addresses",  # the address of a request may be relative to a base address
    "resources_with_controllers",  # a resource names the controller of its routes
    "routes_by_path",  # the path of a file is a route
    "stubs_in_packages",  # clients of remote procedures are made by functions of a package: `pb.NewUsersClient`
    "symbols_as_paths",  # `scope :users`
]


@cache
def has_habit(language: str, habit: Habit) -> bool:
    """Whether the code of a language follows one of the `Habit` conventions."""
    own = conventions_of(language)
    return habit in own.contract_habits or (own.like != "" and habit in conventions_of(own.like).contract_habits)


@cache
def own_object() -> str:
    """Return a regular expression for the prefix of a member, such as `self.`.

    The prefixes of all languages match in each language, because code often uses the word of another language as a name:
    `const self = this`.
    """
    words = sorted(all_conventions().own_object)
    return "(?:" + "|".join((r"\b" if word[0].isalnum() else "") + re.escape(word) for word in words) + ")"


def is_own_object(name: str) -> bool:
    """Whether a parameter is the object itself, such as `self`."""
    return f"{name}." in all_conventions().own_object
