"""Symbols of real indexers, and how sources spell them."""

from __future__ import annotations

import pytest

from graphmem.evidence.scip_symbols import parsed, spells

TS = "scip-typescript npm app 1.0.0 src/`shape.ts`/"
JAVA = "semanticdb maven maven/com.example/shop 1.0 com/example/Cart#"
GO = "scip-go gomod github.com/go-chi/chi/v5 v5.1.0 `github.com/go-chi/chi/v5`/Mux#"
RUST = "rust-analyzer cargo bytes 1.9.0 bytes/"
CLANG = "cxx . . $ leveldb/DB#"
RUBY = "scip-ruby gem shop 1.0 Cart#"
DOTNET = "scip-dotnet nuget . . Serilog/Logger#"


@pytest.mark.parametrize(
    ("symbol", "name", "suffix", "owner"),
    [
        (TS, "shape.ts", "/", "src"),
        (TS + "Square#area().", "area", "()", "Square"),
        (TS + "Square#`<constructor>`().", "<constructor>", "()", "Square"),
        (TS + "Square#`<get>area`().", "<get>area", "()", "Square"),
        (TS + "`'Content-Type'4`:", "'Content-Type'4", ":", "shape.ts"),
        (TS + "run().(callback)", "callback", "(parameter)", "run"),
        (TS + "Box#[T]", "T", "[]", "Box"),
        ("scip-python python app 0 `app.shapes`/__init__:", "__init__", ":", "app.shapes"),
        (JAVA + "`<init>`(+1).", "<init>", "()", "Cart"),
        (JAVA + "add(+2).(price)", "price", "(parameter)", "add"),
        (GO + "Route().", "Route", "()", "Mux"),
        (RUST + "buf/impl#[`&mut T`][Buf]remaining().", "remaining", "()", "Buf"),
        (RUST + "try_get!", "try_get", "!", "bytes"),
        (CLANG + "Get(48a71cfc8dcb5d31).", "Get", "()", "DB"),
        (CLANG + "`operator=`(f0a5c3d6c9a4e2b1).", "operator=", "()", "DB"),
        (RUBY + "`total=`().", "total=", "()", "Cart"),
        (DOTNET + "`.ctor`(+1).", ".ctor", "()", "Logger"),
        ("scip x my  name 1.0 a/b.", "b", ".", "a"),  # spaces in the header are doubled
        ("Pen#draw().", "draw", "()", ""),
        ("local 12", "", "local", ""),
        ("", "", "", ""),
    ],
)
def test_the_last_descriptors_of_a_symbol_are_read(symbol, name, suffix, owner):
    found = parsed(symbol)
    assert (found.name, found.suffix, found.owner) == (name, suffix, owner)


@pytest.mark.parametrize(
    ("symbol", "text"),
    [
        (TS + "serverName0:", "serverName"),
        (TS + "`'Content-Type'4`:", "'Content-Type'"),
        (TS + "Square#`<constructor>`().", "constructor"),
        (TS + "Square#`<constructor>`().", "Square"),
        (TS + "Square#`<get>area`().", "area"),
        (TS + "Square#`#side`.", "#side"),
        (JAVA + "`<init>`().", "Cart"),
        (JAVA + "getTotal().", "total"),
        (CLANG + "`operator=`(f0).", "operator"),
        (CLANG + "`operator=`(f0).", "operator="),
        (CLANG + "DB(49f6).", "DB"),
        (RUBY + "`total=`().", ":total"),
        (RUBY + "`@total`.", "@total"),
        (DOTNET + "`.ctor`().", "Logger"),
        (RUST + "try_get!", "try_get"),
    ],
)
def test_what_a_source_calls_a_symbol_is_recognised(symbol, text):
    assert spells(parsed(symbol), text)


@pytest.mark.parametrize(
    ("symbol", "text"),
    [(TS + "area().", "volume"), (TS + "area1().", "are"), (TS + "side0:", "sides"), (JAVA + "getTotal().", "get"), (TS + "area().", "")],
)
def test_another_name_is_not(symbol, text):
    assert not spells(parsed(symbol), text)


def test_the_class_of_a_constructor_is_its_symbol_without_the_last_descriptor():
    found = parsed(TS + "Square#`<constructor>`().")
    assert found.is_constructor
    assert found.owner_symbol == TS + "Square#"
    assert not parsed(TS + "constructor().").is_constructor
    assert not parsed("scip-go gomod shop 1 `shop/cart`/cart().").is_constructor, "a function named like its package"
