"""Uses of an old signature that the new one still takes are told from those that fail."""

import pytest

from graphmem.parsing.touched import text_of
from graphmem.project.reviews.signatures import accepts_old_uses, lost_parameters, passes

SUFFIXES = {"python": "py", "typescript": "ts", "ruby": "rb", "kotlin": "kt"}
FORMS = {
    "python": "def f{}:\n    pass\n",
    "ruby": "def f{}\nend\n",
    "kotlin": "fun f{} {{ return }}\n",
    "go": "package a\nfunc {} {{ return }}\n",
    "java": "class A {{ void f{} {{ return; }} }}\n",
    "typescript": "function f{} {{ return }}\n",
    "tsx": "export const f = {} => {{ return <a/> }}\n",
}


def definition(language, signature):
    source = FORMS[language].format(signature)
    text = text_of(f"a.{SUFFIXES.get(language, language)}", source.encode(), language)
    return next(one for one in text.definitions(0, len(source)) if one.name == "f")


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("python", "(a)", "(a, b=1)"),
        ("python", "(a: dict) -> dict", "(a: Schema) -> Schema"),
        ("python", "(a)", "(a, *rest, key=1, **more)"),
        ("python", "(a, /)", "(b, /)"),
        ("python", "(a, *, key=1)", "(a, key=1)"),
        ("ruby", "(a)", "(a, key: 1)"),
        ("kotlin", "(a: Int): Int", "(a: Int, b: Int = 1): Int"),
        ("go", "(r *Row) f(name string) error", "(row *Row) f(title string) error"),
        ("go", "f(a string)", "f(a string, more ...Option)"),
        ("go", "f(a string) (err error)", "f(a string) error"),
        ("go", "f() (rows *Rows, err error)", "f() (*Rows, error)"),
        ("java", "(int a)", "(int b)"),
        ("typescript", "(a: string)", "(a?: string)"),
        ("typescript", "(a: Map<string, X>, b: () => void)", "(a: Map<string, X>, b: () => void, c = ',')"),
        ("typescript", "()", "({place}: {place?: string} = {})"),
        ("typescript", "(data)", "(data: any)"),
        ("tsx", "data", "(data: any)"),
        ("tsx", "async data", "async (data: unknown)"),
        ("tsx", "({a, b}: {a: A; b: string})", "({a, b = ''}: {a: A; b?: string})"),
        ("tsx", "({a}: Props)", "({a, b}: Props)"),
    ],
)
def test_a_signature_that_only_allows_more_takes_the_old_uses(language, old, new):
    assert accepts_old_uses(definition(language, old), definition(language, new), language)


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("python", "(a)", "(a, b)"),
        ("python", "(a)", "(b, a=1)"),
        ("python", "(a)", "(b)"),
        ("python", "(a)", "(a, *, key)"),
        ("python", "(a, *rest)", "(a)"),
        ("python", "(a=1)", "(a)"),
        ("python", "(a, key=1)", "(a, *, key=1)"),
        ("ruby", "(a)", "(a, key:)"),
        ("kotlin", "(a: Int): Int", "(b: Int): Int"),
        ("go", "f(a string) error", "f(a int) error"),
        ("go", "f(a string) error", "f(a string) (int, error)"),
        ("go", "f() <-chan int", "f() chan int"),
        ("go", "f(a, b string)", "f(a string)"),
        ("java", "(int a)", "(long a)"),
        ("typescript", "(a?: string)", "(a: string)"),
        ("typescript", "(a: string)", "(a: string, b: number)"),
        ("typescript", "(a: string): string", "(a: string): number"),
        ("tsx", "({a}: {a: A})", "({a, b}: {a: A; b: string})"),
        ("tsx", "({a}: Props)", "({a}: Others)"),
    ],
)
def test_a_signature_that_asks_for_more_or_gives_less_does_not(language, old, new):
    assert not accepts_old_uses(definition(language, old), definition(language, new), language)


@pytest.mark.parametrize(
    ("call", "is_passed"),
    [
        ("'night')", False),
        ("'night', None)", True),
        ("'night', parent=self)", True),
        ("name='night', parent=self)", True),
        ("name=parent)", False),
        ("*given)", True),
        ("'night',", True),
    ],
    ids=["without it", "by its place", "by its name", "with other names", "as another value", "unpacked", "not read to its end"],
)
def test_only_calls_that_pass_a_lost_optional_parameter_fail(call, is_passed):
    lost = lost_parameters(definition("python", "(name, parent=None)"), definition("python", "(name)"), "python")
    assert passes(call, lost) == is_passed


@pytest.mark.parametrize(("old", "new"), [("(name, parent)", "(name)"), ("(name, parent=None)", "(title)"), ("(name)", "(name, more)")])
def test_other_losses_fail_in_every_call(old, new):
    assert lost_parameters(definition("python", old), definition("python", new), "python") is None
