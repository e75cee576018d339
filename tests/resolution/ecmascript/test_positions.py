"""TypeScript names a type or a value in many places; each of them makes its file depend on what it names."""

from __future__ import annotations

import pytest

BASE = "export const X = 'all'\nexport type T = 'a' | 'b'\nexport interface Vars { n: number }\n"

TYPES = [
    ("type Q<A> = A extends T ? 1 : 2", "Q"),
    ("type Q<A> = A extends string ? T : never", "Q"),
    ("type Q = { [K in T]: K }", "Q"),
    ("type Q<A> = { [K in keyof A as T]: K }", "Q"),
    ("type Q = `c-${T}`", "Q"),
    ("type Q = keyof T", "Q"),
    ("type Q = T['a']", "Q"),
    ("type Q<A> = A extends Array<infer U extends T> ? U : never", "Q"),
    ("type Q<A = T> = A", "Q"),
    ("type Q = import('./base').T", "Q"),
    ("type Q = new (a: T) => Date", "Q"),
    ("export function f<A extends T>(a: A) { return a }", "f"),
    ("export function f(x: any): x is T { return true }", "f"),
    ("export function f(x: any): asserts x is T {}", "f"),
    ("export interface I { [k: string]: T }", "I"),
    ("export interface I { (a: T): void }", "I"),
    ("export interface I { new (a: T): any }", "I"),
    ("export interface I extends Array<T> {}", "I"),
    ("export class C extends Array<T> {}", "C"),
    ("export class C implements Partial<T> {}", "C"),
    ("export function f() { return 200 as T }", "f"),
    ("export function f() { return 200 satisfies T }", "f"),
    ("export function f() { return new Map<T, number>() }", "f"),
    ("export function f(g: any) { return g<T>() }", "f"),
    ("export function f(g: any) { g = (s: T) => s }", "f"),
    ("const s = 200 as T", "<module>"),
]

VALUES = [
    ("export const o = { [X]: 1 }", "o"),
    ("export class C { [X]() { return 1 } }", "C"),
    ("export class C { f = X }", "C"),
    ("export const f = (a: any) => { const { [X]: q } = a; return q }", "f"),
    ("export const f = (a: any) => { const { q = X } = a; return q }", "f"),
    ("export function f(a = X) { return a }", "f"),
    ("export function f(a: any) { a += X }", "f"),
    ("export function f() { throw X }", "f"),
    ("export enum E { A = X }", "E"),
    ("type Q = typeof X", "Q"),
    ("type Q = keyof typeof X", "Q"),
    ("export function f(a: typeof X) {}", "f"),
]


@pytest.mark.parametrize(("source", "user"), TYPES, ids=[source for source, _ in TYPES])
@pytest.mark.parametrize("ending", ["ts", "tsx"])
def test_a_type_is_used_wherever_one_may_be_named(resolve, source, user, ending):
    found = resolve({"base.ts": BASE, f"a.{ending}": f"import type {{ T }} from './base'\n{source}\n"})
    assert (f"a.{ending}:{user}", "base.ts:T") in found.edges("USES_TYPE")


@pytest.mark.parametrize(("source", "user"), VALUES, ids=[source for source, _ in VALUES])
def test_a_value_is_used_wherever_one_may_be_named(resolve, source, user):
    found = resolve({"base.ts": BASE, "a.ts": f"import {{ X }} from './base'\n{source}\n"})
    assert (f"a.ts:{user}", "base.ts:X") in found.edges("REFERENCES")


@pytest.mark.parametrize(
    "source",
    [
        "export function f<T>(a: Array<T>, g: any) { return g(a as T) }",
        "export type Q<T> = keyof T",
        "export type Q<A> = A extends Array<infer T> ? keyof T : never",
        "export type Q = { [T in string]: keyof T }",
        "export class T {}",
        "export const v = class T {}",
        "export interface T {}",
    ],
)
def test_a_name_that_is_declared_or_a_parameter_is_not_a_use_of_the_type_of_that_name(resolve, source):
    found = resolve({"base.ts": BASE, "a.ts": f"import type {{ T }} from './base'\n{source}\n"})
    assert [one for one in found.edges("USES_TYPE") if one[1] == "base.ts:T"] == []


def test_a_field_of_a_class_uses_its_value_in_plain_javascript(resolve):
    found = resolve({"base.js": "export const X = 1\n", "a.js": "import { X } from './base'\nclass C { f = X }\n"})
    assert ("a.js:C", "base.js:X") in found.edges("REFERENCES")


@pytest.mark.parametrize("inner", ["interface Vars { a: string }", "export interface Vars { a: string }"])
def test_who_adds_to_an_interface_of_another_file_depends_on_it(resolve, inner):
    found = resolve({"base.ts": BASE, "a.ts": f"export {{}}\ndeclare module './base' {{\n  {inner}\n}}\n"})
    assert ("a.ts:<module>", "base.ts:Vars") in found.edges("REFERENCES")
    assert ("file", "file") in found.edges("IMPORTS")


def test_a_use_of_a_type_of_the_platform_is_not_a_use_of_a_file_that_adds_members_to_it(resolve):
    shop = "export const basket = 1\ndeclare global {\n  interface Window { basket: number }\n}\n"
    found = resolve(
        {
            "shop/basket.ts": shop,
            "shop/globals.d.ts": "interface Window { shop: string }\ninterface ShopState { open: boolean }\n",
            "lib/events.ts": "export function listen(target: Window & typeof globalThis, state: ShopState) {\n  return 1\n}\n",
            "lib/model.ts": "export interface Document { title: string }\n",
            "lib/print.ts": 'import { Document } from "./model"\nexport function print(one: Document) {\n  return one\n}\n',
        }
    )
    edges = set(found.edges("USES_TYPE"))
    assert ("lib/events.ts:listen", "shop/globals.d.ts:ShopState") in edges
    assert ("lib/print.ts:print", "lib/model.ts:Document") in edges
    assert not [dst for _, dst in edges if dst.endswith(":Window")]
