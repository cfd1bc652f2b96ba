"""The notation reads what it writes, and refuses everything else with a sentence."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from andante.errors import NotationError
from andante.notation import Call, parse, write
from tests.worlds import examples

RESERVED = {"true", "false", "none", "inf"}

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.+-]{0,8}", fullmatch=True).filter(lambda name: name not in RESERVED)
numbers = st.integers() | st.floats(allow_nan=False) | st.sampled_from([math.inf, -math.inf, 5e-324, -0.0, 1e308, 1e22])
plain = numbers | names | st.booleans() | st.none()
calls = st.recursive(
    st.builds(Call, names, st.dictionaries(names, plain, max_size=3)),
    lambda inner: st.builds(Call, names, st.dictionaries(names, plain | inner, max_size=3)),
    max_leaves=6,
)


@given(calls)
@examples(300)
def test_written_calls_are_read_as_the_same_calls(call):
    again = parse(str(call))
    assert again == call
    assert str(again) == str(call)  # of the same kind too: 1 is not 1.0, nor true
    assert list(again.arguments) == list(call.arguments)


@given(plain)
@examples(200)
def test_a_value_keeps_its_type(value):
    (again,) = parse(f"name(value={write(value)})").arguments.values()
    assert type(again) is type(value)
    assert again == value
    if isinstance(value, float):
        assert math.copysign(1, again) == math.copysign(1, value)


@given(st.text(max_size=40) | st.text("abd()=,. -+0123456789einfrut\t\n", max_size=40))
@examples(600)
def test_any_text_is_read_or_refused(text):
    try:
        call = parse(text)
    except NotationError as error:
        assert str(error).startswith(repr(text))
    else:
        assert parse(str(call)) == call


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("lrta", Call("lrta")),
        ("lrta()", Call("lrta")),
        ("  lrta ( depth\t=\n9 )  ", Call("lrta", {"depth": 9})),
        ("a(b=1,c=2,)", Call("a", {"b": 1, "c": 2})),
        ("a(b=+3)", Call("a", {"b": 3})),
        ("a(b=-0.5)", Call("a", {"b": -0.5})),
        ("a(b=.5)", Call("a", {"b": 0.5})),
        ("a(b=2.)", Call("a", {"b": 2.0})),
        ("a(b=1e-3)", Call("a", {"b": 0.001})),
        ("a(b=inf, c=-inf)", Call("a", {"b": math.inf, "c": -math.inf})),
        ("a(b=true, c=false, d=none)", Call("a", {"b": True, "c": False, "d": None})),
        ("a(b=median)", Call("a", {"b": "median"})),
        ("a(b=infinite)", Call("a", {"b": "infinite"})),
        ("a(b=c(d=e(f=1)), g=2)", Call("a", {"b": Call("c", {"d": Call("e", {"f": 1})}), "g": 2})),
    ],
)
def test_legal_texts(text, call):
    read = parse(text)
    assert read == call
    assert [type(value) for value in read.arguments.values()] == [type(value) for value in call.arguments.values()]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "ends where a name or a value is expected"),
        ("   ", "ends where a name or a value is expected"),
        ("(", "has '(' where a name or a value is expected"),
        ("3", "is not an algorithm; write name(parameter=value, ...)"),
        ("true", "is not an algorithm; write name(parameter=value, ...)"),
        ("inf", "is not an algorithm; write name(parameter=value, ...)"),
        ("lrta(", "lacks a closing bracket"),
        ("lrta(depth=3", "lacks a closing bracket"),
        ("lrta(depth", "has 'depth' where parameter=value is expected"),
        ("lrta(depth=", "has 'depth' where parameter=value is expected"),
        ("lrta(3)", "has '3' where parameter=value is expected"),
        ("lrta(=3)", "has '=' where parameter=value is expected"),
        ("lrta(,)", "has ',' where parameter=value is expected"),
        ("lrta(depth=3,,weight=2)", "has ',' where parameter=value is expected"),
        ("lrta(depth=,)", "has ',' where a name or a value is expected"),
        ("lrta(depth=3 weight=2)", "has 'weight' where a comma or a closing bracket is expected"),
        ("lrta(depth=3, depth=4)", "gives 'depth' twice"),
        ("lrta(depth=3) x", "has 'x' after the end of the algorithm"),
        ("lrta)", "has ')' after the end of the algorithm"),
        ("lrta(depth=3))", "has ')' after the end of the algorithm"),
        ("lrta(depth=$3)", "has '$' where a name, a number or one of ( ) , = is expected"),
        ("lrta(depth='3')", 'has "\'" where a name, a number or one of ( ) , = is expected'),
        ("lrta(depth=[1..3])", "has a list of values, which only campaigns accept; write a single value"),
    ],
)
def test_illegal_texts(text, reason):
    with pytest.raises(NotationError) as caught:
        parse(text)
    assert str(caught.value) == f"{text!r} {reason}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a(b=" * 20_000, "has 80000 characters; an algorithm has at most 1000"),
        ("a(b=" + "9" * 10_000 + ")", "has 10005 characters; an algorithm has at most 1000"),
        ("a" * 1001, "has 1001 characters; an algorithm has at most 1000"),
        ("a(b=" * 51 + "1" + ")" * 51, "has 51 opening brackets; at most 50 are allowed"),
        ("(" * 1000, "has 1000 opening brackets; at most 50 are allowed"),
    ],
)
def test_huge_texts_are_refused_before_they_are_read(text, reason):
    with pytest.raises(NotationError) as caught:
        parse(text)
    assert str(caught.value) == f"{text[:40]!r}... {reason}"


def test_texts_that_are_just_short_enough_are_read():
    deep = "a(b=" * 50 + "1" + ")" * 50
    assert str(parse(deep)) == deep
    assert parse("a(b=" + "9" * 990 + ")").arguments["b"] == 10**990 - 1


def test_a_call_can_be_looked_up_like_a_word():
    assert parse("x(y=1, z=2)") in {Call("x", {"z": 2.0, "y": 1})}
    assert parse("x(y=1)") not in {"x": 1}


def test_a_call_without_arguments_is_not_read_as_a_word():
    call = Call("lrta", {"depth": Call("oracle")})
    assert parse(str(call)) == call
    assert parse("lrta(depth=oracle)").arguments["depth"] == "oracle"
