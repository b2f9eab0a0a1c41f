"""The SDK's check and the service's parser say the same of every value: both follow one table of rules."""

from __future__ import annotations

import json
from typing import Any
from unicodedata import category

from hypothesis import example, given, settings
from hypothesis import strategies as st

from backend.domain.errors import InvalidField, MissingField
from backend.domain.fields.money import MINOR_DIGITS
from backend.domain.visitors.call_fields import FilledId, IdText
from backend.domain.visitors.call_texts import is_blank
from backend.domain.visitors.calls import FIELDS, REQUIRED, Call, Kind, parse_call
from backend.json_api.json_body import EXACT
from tests.examples import examples
from tests.sdk.compiled_checks import CompiledChecks

KINDS = [kind for kind in Kind if kind is not Kind.ATTRIBUTION]
ENVELOPE = {"call_id": "7a1f8a2e-6a0b-4b8e-9a51-0d2f6f3f9c11", "occurred_at": "2026-03-01T12:00:00.000Z"}
GOOD: dict[str, Any] = {"customer_id": "c", "revenue": 1, "currency": "EUR", "name": "n"}
BLANKS = st.text("\t\n\x00\x1c\x7f\x85\u00a0\u1680\u2009\u2028\u202f\u3000\ufeff ", max_size=3)
CHARACTERS = st.sampled_from('ab$"\\/ü€🛒\ud83d\udc00\x00\t\n\x1f\x85\u00a0\u2028\u3000\ufeff\u200d\u180e ')
SHORT = st.text(CHARACTERS, max_size=8)
LONG = st.builds(
    lambda before, character, count, after: before + character * count + after,
    BLANKS,
    CHARACTERS,
    st.integers(253, 259),
    BLANKS,
)
LIKELY_TEXTS = st.booleans().flatmap([SHORT, LONG].__getitem__)
TEXTS = st.builds(lambda before, text, after: before + text + after, BLANKS, SHORT, BLANKS) | LONG
NUMBERS = st.one_of(
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),  # no JSON has the others
    st.sampled_from([10**12, 10**12 + 1, 999_999_999_999.99, 1e12 + 0.5, 1e21, 1.5e21, 1e-7, -0.0, 5e-324]),
)
AMOUNTS = st.from_regex(r"\s?[0-9]{1,13}([.,][0-9]{0,3})?(e-[0-9])?\s?", fullmatch=True)
UNFILLED = st.sampled_from(
    ["undefined", "null", "NaN", "[object Object]", "{{Order ID}}", "${id}", "%ORDER%"]
)
IDS = UNFILLED | LIKELY_TEXTS | st.sampled_from([17, 2**53 - 1, 2**53, -(2**53), 10**16, -0.0, 1.0, 0.5])
DIGITS = st.text("0123456789abcdefABCDEFg٠", min_size=63, max_size=65)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
NAMES = st.text(CHARACTERS, max_size=5)
NESTED = st.recursive(
    SCALARS,
    lambda nested: st.lists(nested, max_size=3) | st.dictionaries(NAMES, nested, max_size=3),
    max_leaves=6,
)


@st.composite
def deep(draw: st.DrawFn) -> dict[str, Any]:
    """An object of about as many levels as there may be."""
    value: Any = draw(SCALARS | st.just([]) | st.just({}))
    for is_list in draw(st.lists(st.booleans(), min_size=6, max_size=7)):
        value = [value] if is_list else {draw(NAMES): value}
    return {"a": value}


@st.composite
def large(draw: st.DrawFn) -> dict[str, Any]:
    """An object of about as many bytes as there may be, by what its numbers and characters take."""
    value: dict[str, Any] = {"a": draw(st.lists(NUMBERS | SHORT, max_size=4)), "b": ""}
    character = draw(CHARACTERS)
    size = len(json.dumps(character, ensure_ascii=False).encode("utf-8", "backslashreplace")) - 2
    used = len(
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    )
    value["b"] = character * max(0, (4096 - used) // size + draw(st.integers(-2, 2)))
    return value


METADATA = st.sampled_from([st.dictionaries(NAMES, NESTED, max_size=4), deep(), large()]).flatmap(
    lambda strategy: strategy
)
TIMES = st.sampled_from(
    [
        "2026-03-01",
        " 2026-03-01T12:00:00Z\n",
        "2026-02-30",
        "2026-13-45",
        "2026-03-01 at noon",
        "٢٠٢٦-03-01",
        "0000-01-01",
    ]
)
VALUES = st.one_of(
    TEXTS,
    SCALARS,
    NESTED,
    METADATA,
    DIGITS,
    TIMES,
    st.sampled_from(["EUR", " eur\t", "E1R", "EURO", "u\u017fd", "E\x00R"]),
)
LIKELY = {
    "revenue": NUMBERS | AMOUNTS,
    **dict.fromkeys(("customer_id", "transaction_id", "event_id", "product_id"), IDS),
    "metadata": METADATA,
    "email_sha256": DIGITS,
    "phone_sha256": DIGITS,
    "client_timestamp": TIMES,
}


@st.composite
def arguments(draw: st.DrawFn) -> tuple[Kind, dict[str, Any]]:
    """A kind of call, and fields of it with anything in them, likely ones more often than not."""
    kind = draw(st.sampled_from(KINDS))
    names = draw(st.lists(st.sampled_from([*FIELDS[kind], "colour"]), min_size=1, max_size=3))
    fields = {name: GOOD[name] for name in REQUIRED[kind] if draw(st.integers(0, 9))}
    for name in names:
        fields[name] = draw(LIKELY.get(name, LIKELY_TEXTS) if draw(st.integers(0, 3)) else VALUES)
    return kind, fields


def outcome(kind: Kind, fields: str) -> Call | InvalidField | MissingField:
    """What the service makes of a call with the fields in this JSON."""
    body = {**EXACT.read(fields.encode()), **ENVELOPE, "kind": kind.value}
    try:
        return parse_call(body)
    except (InvalidField, MissingField) as refusal:
        return refusal


def kept(call: object) -> tuple[object, ...]:
    """What of a call is stored."""
    assert isinstance(call, Call), call
    return call.customer_id, call.fields


def for_the_service_to_say(kind: Kind, fields: dict[str, Any]) -> set[str]:
    """The fields of which only the service says what is wrong.

    It knows the currencies, tells the site's owner of ids that a template left unfilled, and sees the numbers
    that have lost digits.
    """
    code = fields.get("currency")
    is_unknown = isinstance(code, str) and code.strip().upper() not in MINOR_DIGITS
    ids = {name for name, rule in FIELDS[kind].items() if isinstance(rule, IdText)}
    doubtful = {
        name
        for name in ids & fields.keys()
        if FilledId.is_unfilled(str(fields[name]).strip()) or is_unsafe(fields[name])
    }
    return doubtful | ({"currency"} if is_unknown else set())


def is_unsafe(value: object) -> bool:
    """Whether this is a whole number that JavaScript does not keep exactly."""
    return isinstance(value, int | float) and abs(value) > IdText.MOST


@settings(max_examples=examples(500))
@given(arguments())
@example((Kind.CONVERSION, {"revenue": 1, "currency": "XXX"}))
@example((Kind.CONVERSION, {"revenue": {"a": "b" * 4097}, "currency": "EUR"}))
@example((Kind.EVENT, {"name": "e", "metadata": {"a": "ü" * 2044}}))
@example((Kind.EVENT, {"name": "e", "metadata": {"a": "ü" * 2045}}))
@example(
    (
        Kind.EVENT,
        {"name": "e", "metadata": {"$a": [2**63, -(2**64), 1e300, 1e-7, 1e21, 123456789012345680000]}},
    )
)
def test_both_sides_agree(checks: CompiledChecks, asked: tuple[Kind, dict[str, Any]]) -> None:
    """What the SDK takes the service accepts, and stores as if it had been sent untouched; what it refuses
    the service refuses for the same field."""
    kind, fields = asked
    answer = checks.call(kind.value, fields)
    untouched = outcome(kind, answer.sent)
    if answer.wrong:
        assert not isinstance(untouched, Call)
        required = {name: GOOD[name] for name in REQUIRED[kind]}
        alone = required | {answer.wrong: EXACT.read(answer.sent.encode()).get(answer.wrong)}
        refusal = outcome(kind, json.dumps(alone, default=float))
        assert isinstance(refusal, InvalidField | MissingField)
        assert refusal.field == answer.wrong
    elif isinstance(untouched, InvalidField):
        assert untouched.field in for_the_service_to_say(kind, fields)
    else:
        assert kept(outcome(kind, answer.taken)) == kept(untouched)


def test_both_sides_know_the_same_blanks(checks: CompiledChecks) -> None:
    """Each character that one of them takes for blank the other does too: of controls, formats and spaces."""
    every = [
        character
        for character in map(chr, range(0x10000))
        if category(character) in {"Cc", "Cf", "Zl", "Zp", "Zs"}
    ]
    found = [character for character in every if checks.call("lead", {"name": character}).taken == "{}"]
    assert found == [character for character in every if is_blank(character)]
