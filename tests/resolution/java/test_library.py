"""Calls of Java libraries have the name of their class, or no class."""

from __future__ import annotations


def called(resolve, head, body):
    found = resolve({"a/Main.java": f"package a;\n{head}\nclass Main {{ void main(String text) {{ {body} }} }}\n"})
    return {target for _, target in found.edges("CALLS")}


def test_a_class_comes_from_the_starred_package_that_has_it(resolve):
    head = "import java.util.*;\nimport java.io.*;"
    assert called(resolve, head, "File x = null; x.delete();") == {"java.io:File.delete"}
    assert called(resolve, head, "Scanner x = null; x.nextLine();") == {"java.util:Scanner.nextLine"}


def test_a_class_of_no_starred_package_is_not_one_of_the_library(resolve):
    assert not any(name.startswith("java.util:") for name in called(resolve, "import java.util.*;", "Generated x = null; x.run();"))
    assert not any(name.startswith("org.kit:") for name in called(resolve, "import org.kit.*;", "Generated x = null; x.run();"))


def test_a_class_of_two_starred_packages_is_unknown(resolve):
    found = called(resolve, "import java.sql.*;\nimport java.util.*;", "Date x = null; x.getTime();")
    assert not any(name.startswith(("java.sql:", "java.util:")) for name in found)


def test_a_static_method_makes_its_class_only_where_the_jdk_says_so(resolve):
    assert "java.time:Duration.toMillis" in called(resolve, "import java.time.Duration;", "Duration.parse(text).toMillis();")
    assert "org.jsoup:Jsoup.title" not in called(resolve, "import org.jsoup.Jsoup;", "Jsoup.parse(text).title();")
