"""Which of a link's rules decides: a table of cases."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.errors import InvalidField
from backend.domain.fields.countries import countries
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.compiled_rules import CompiledRules, share_of
from backend.domain.links.links import Link
from backend.domain.links.rules.conditions import Circumstances
from backend.domain.links.rules.input import MOST_RULES, LinkRules
from backend.domain.links.rules.rule_json import rule_targets, variant_names
from backend.domain.web.accept_language import preferred_languages
from backend.domain.web.client import Client, ClientKind, Platform
from tests.examples import examples

# A Friday.
NOW = datetime(2026, 11, 20, 7, 30, tzinfo=UTC)
LINK = Link(LinkId("7"), OrgId("org"), "go.example", "a", "https://a.example", "A", NOW, NOW)
PHONE = Client(ClientKind.BROWSER, Platform.IOS, "iOS", "Mobile Safari")
VISIT = Circumstances(PHONE, NOW, "AT", "de-at", "ref=a%20b&ref=c&empty=&flag", is_returning=True)
BERLIN = "Europe/Berlin"


def rule(**conditions: Any) -> dict[str, Any]:
    """A rule that leads elsewhere; `from_` and `if_` stand for names that Python keeps."""
    named = {name.rstrip("_"): value for name, value in conditions.items()}
    return {"if": named, "then": {"destination_url": "https://there.example"}}


def decided(rules: list[dict[str, Any]], visit: Circumstances = VISIT) -> int | None:
    """The number of the rule that decides, after the rules were read as they are given."""
    target = CompiledRules(replace(LINK, rules=LinkRules().parse("rules", rules))).target(visit)
    return target.number if target else None


FITTING: list[dict[str, Any]] = [
    {},
    {"platform": ["ios"]},
    {"platform": ["desktop", "ios"]},
    {"system": ["ios"]},
    {"browser": ["Firefox", "mobile SAFARI"]},
    {"language": ["de"]},
    {"language": ["DE-at"]},
    {"language": ["fr", "de"]},
    {"country": ["de", "at"]},
    {"query": {"ref": "a b"}},
    {"query": {"ref": "c", "empty": "", "flag": None}},
    {"query": {"empty": None}},
    {"from": "2026-11-20T07:30:00Z"},
    {"until": "2026-11-20T09:31:00+02:00", "from": "2026-11-20"},
    {"weekdays": [5]},
    {"weekdays": [1, 5], "hours": {"from": "07:30", "until": "07:31"}},
    {"hours": {"from": "08:30", "until": "18:00", "timezone": BERLIN}},
    {"hours": {"from": "22:00", "until": "08:31", "timezone": BERLIN}, "weekdays": [4]},
    {"hours": {"from": "16:00", "until": "12:00", "timezone": "Asia/Tokyo"}, "weekdays": [5]},
    {"hours": {"from": "00:00", "until": "24:00", "timezone": "Pacific/Auckland"}},
    {"device": "returning"},
    {"platform": ["ios"], "country": ["AT"], "language": ["de"], "device": "returning"},
]
OTHER: list[dict[str, Any]] = [
    {"platform": ["android", "desktop"]},
    {"system": ["Windows"]},
    {"browser": ["Safari"]},
    {"language": ["de-DE"]},
    {"language": ["d"]},
    {"country": ["DE"]},
    {"query": {"ref": "a"}},
    {"query": {"ref": "c", "gone": None}},
    {"query": {"flag": "1"}},
    {"from": "2026-11-20T07:30:01Z"},
    {"until": "2026-11-20T07:30:00Z"},
    {"weekdays": [1, 2, 3, 4, 6, 7]},
    {"hours": {"from": "07:31", "until": "18:00"}},
    {"hours": {"from": "06:00", "until": "07:30"}},
    {"hours": {"from": "06:00", "until": "08:30", "timezone": BERLIN}},
    {"hours": {"from": "22:00", "until": "08:31", "timezone": BERLIN}, "weekdays": [5]},
    {"hours": {"from": "22:00", "until": "08:30", "timezone": BERLIN}},
    {"device": "new"},
    {"platform": ["ios"], "country": ["DE"]},
]


@pytest.mark.parametrize("conditions", FITTING)
def test_a_rule_that_fits(conditions: dict[str, Any]) -> None:
    """All conditions hold, any value of each: the rule decides."""
    assert decided([rule(**conditions)]) == 0


@pytest.mark.parametrize("conditions", OTHER)
def test_a_rule_that_does_not_fit(conditions: dict[str, Any]) -> None:
    """One condition does not hold: the link decides, or the next rule."""
    assert decided([rule(**conditions)]) is None
    assert decided([rule(**conditions), rule()]) == 1


def test_the_first_rule_that_fits_decides() -> None:
    """Later ones are not asked, whatever they say."""
    assert decided([rule(country=["DE"]), rule(country=["AT"]), rule(), rule(platform=["ios"])]) == 1


@pytest.mark.parametrize(
    "conditions",
    [{"country": ["AT"]}, {"language": ["de"]}, {"system": ["ios"]}, {"query": {"a": None}}],
)
def test_what_is_not_known_fits_nothing(conditions: dict[str, Any]) -> None:
    """Where country, language, system or parameter are not known, no rule that asks for them fits."""
    unknown = Circumstances(Client(ClientKind.HTTP_CLIENT, Platform.DESKTOP), NOW)
    assert decided([rule(**conditions)], unknown) is None


def test_a_condition_of_a_later_version() -> None:
    """A rule with a condition that this version does not know is passed over, and breaks nothing."""
    later = [rule(moon=["full"]), {"if": {}, "then": {"page": "x"}}, rule(country=["AT"])]
    target = CompiledRules(replace(LINK, rules=later)).target(VISIT)
    assert target is not None
    assert target.number == 2
    assert target.link.destination_url == "https://there.example"


@settings(max_examples=examples(30))
@given(st.lists(st.sampled_from([*FITTING, *OTHER]), max_size=8))
def test_a_naive_model(conditions: list[dict[str, Any]]) -> None:
    """In any order, the first of those that fit alone decides."""
    expected = next((number for number, condition in enumerate(conditions) if condition in FITTING), None)
    assert decided([rule(**condition) for condition in conditions]) == expected


def test_hours_on_days_on_which_clocks_change() -> None:
    """What counts is what the clock on the wall says, in summer and in winter."""
    morning = [rule(hours={"from": "08:00", "until": "09:00", "timezone": BERLIN})]
    for month, hour in ((1, 7), (7, 6)):
        at = datetime(2026, month, 5, hour, 15, tzinfo=UTC)
        assert decided(morning, replace(VISIT, at=at)) == 0
        assert decided(morning, replace(VISIT, at=at.replace(hour=hour + 1))) is None


@pytest.mark.parametrize(
    ("header", "languages"),
    [
        (b"de-AT,de;q=0.9,en;q=0.8", ["de-at", "de", "en"]),
        (b"en;q=0.5, fr;q=0.9, es;q=0.9", ["fr", "es", "en"]),
        (b"en;q=0,*;q=0.1", ["*"]),
        (b"en;q=2,de;q=x", []),
    ],
)
def test_languages_by_weight(header: bytes, languages: list[str]) -> None:
    """The greatest weight first, of equal ones the first; weight 0 is not wanted."""
    assert list(preferred_languages(header)) == languages


def test_targets_for_a_platform() -> None:
    """A rule for other platforms leads nobody on this one anywhere."""
    rules = LinkRules().parse("rules", [rule(platform=["ios"]), rule(country=["DE"])])
    assert list(rule_targets(rules)) == ["rules[0].then.destination_url", "rules[1].then.destination_url"]
    assert list(rule_targets(rules, Platform.ANDROID)) == ["rules[1].then.destination_url"]
    assert list(rule_targets(rules, Platform.IOS)) == list(rule_targets(rules))


def test_what_is_stored() -> None:
    """Rules are stored in one form, which is read as itself."""
    sent_rules = [
        rule(
            country=["de", "DE"], from_="2026-01-01", language=None, hours={"from": "08:00", "until": "09:00"}
        )
    ]
    stored = LinkRules().parse("rules", sent_rules)
    assert stored == [
        {
            "if": {
                "country": ["DE"],
                "from": "2026-01-01T00:00:00Z",
                "hours": {"from": "08:00", "until": "09:00", "timezone": "UTC"},
            },
            "then": {"destination_url": "https://there.example"},
        }
    ]
    assert LinkRules().parse("rules", stored) == stored
    assert LinkRules().parse("rules", None) == []


def split(*weights: int) -> dict[str, Any]:
    """A rule that divides its visitors among variants A, B and so on."""
    parts = [
        {"name": chr(65 + place), "weight": weight, "destination_url": f"https://{place}.example"}
        for place, weight in enumerate(weights)
    ]
    return {"if": {}, "then": {"split": parts}}


def variant(rules: list[dict[str, Any]], share: float) -> str | None:
    """The variant for this share of the visitors."""
    link = replace(LINK, rules=LinkRules().parse("rules", rules))
    target = CompiledRules(link).target(replace(VISIT, share=share))
    assert target is not None
    return target.variant


def test_a_split() -> None:
    """Each variant gets its part of the shares; one with weight 0 gets none."""
    shares = [0.0, 0.24, 0.25, 0.5, 0.74, 0.75, 0.999999]
    assert [variant([split(1, 2, 1)], share) for share in shares] == list("AABBBCC")
    assert {variant([split(0, 3, 0)], share) for share in shares} == {"B"}
    assert variant([rule(country=["DE"]), split(1, 1)], 0.7) == "B"
    assert variant([rule(), split(1, 1)], 0.7) is None
    assert CompiledRules(replace(LINK, rules=[split(1, 1)])).splits
    assert not CompiledRules(replace(LINK, rules=[rule()])).splits
    assert variant_names([rule(), split(1, 1)]) == {"A", "B"}
    assert list(rule_targets([split(1, 1)])) == [
        "rules[0].then.split[0].destination_url",
        "rules[0].then.split[1].destination_url",
    ]


def test_the_share_of_a_visitor() -> None:
    """The same for the same visitor of a link, in all of an IPv6 network, another one for others and under
    another key; all together they are spread evenly."""
    share = share_of(b"k", LINK.id, "2001:db8::1", b"Firefox")
    assert share == share_of(b"k", LINK.id, "2001:db8::ffff", b"Firefox")
    others = [
        share_of(b"l", LINK.id, "2001:db8::1", b"Firefox"),
        share_of(b"k", LinkId("8"), "2001:db8::1", b"Firefox"),
        share_of(b"k", LINK.id, "2001:db8:1::1", b"Firefox"),
        share_of(b"k", LINK.id, "2001:db8::1", b"Chrome"),
    ]
    assert len({share, *others}) == 5
    many = [share_of(b"k", LINK.id, f"10.0.{number // 250}.{number % 250}", b"") for number in range(1_000)]
    assert 450 < sum(other_share < 0.5 for other_share in many) < 550


BAD: list[tuple[object, str]] = [
    ("x", "rules must be a list of at most 50 rules"),
    ([rule()] * (MOST_RULES + 1), "rules must be a list of at most 50 rules"),
    ([5], "rules[0] must be a JSON object"),
    ([{"if": {}}], "rules[0].then is required"),
    ([rule(), {"then": {}}], "rules[1].then.destination_url is required, or split"),
    ([{"if": [], "then": rule()["then"]}], "rules[0].if must be a JSON object"),
    ([{"when": {}, "then": {}}], "rules[0].when is not a field: possible are then, if"),
    ([{"then": {"destination_url": "ftp://a.example"}}],
     "rules[0].then.destination_url must be an absolute http or https URL"),
    ([rule(), rule(), rule(country=["XY"])],
     "rules[2].if.country must have ISO 3166 codes of countries, such as DE"),
    ([rule(country=["UK"])],
     "rules[0].if.country must have ISO 3166 codes of countries, such as GB for the United Kingdom"),
    ([rule(country="DE")], "rules[0].if.country must be a list of 1 to 250 values"),
    ([rule(country=[])], "rules[0].if.country must be a list of 1 to 250 values"),
    ([rule(platform=["mac"])], "rules[0].if.platform must be one of ios, android, desktop"),
    ([rule(language=["de_DE"])], "rules[0].if.language must be tags such as de or pt-BR"),
    ([rule(browser=[""])], "rules[0].if.browser must not be empty"),
    ([rule(query=[])], "rules[0].if.query must be a JSON object of 1 to 10 parameters"),
    ([rule(query={"$a": None})], "rules[0].if.query must not have names that begin with $"),
    ([rule(query={"a": 5})], "rules[0].if.query.a must be a string"),
    ([rule(from_="2026-01-01T00:00")],
     "rules[0].if.from must be a date, or an ISO 8601 time with a zone, such as 2026-03-01T12:00:00Z"),
    ([rule(from_="2026-01-02", until="2026-01-01")], "rules[0].if.until must be later than from"),
    ([rule(weekdays=[0])], "rules[0].if.weekdays must have whole numbers from 1 (Monday) to 7 (Sunday)"),
    ([rule(weekdays=[True])], "rules[0].if.weekdays must have whole numbers from 1 (Monday) to 7 (Sunday)"),
    ([rule(hours={"from": "8:00", "until": "18:00"})],
     "rules[0].if.hours.from must be a time of day, such as 08:00"),
    ([rule(hours={"from": "08:00"})], "rules[0].if.hours.until is required"),
    ([rule(hours={"from": "08:00", "until": "08:00"})],
     "rules[0].if.hours.until must be another time than from"),
    ([rule(hours={"from": "08:00", "until": "18:00", "timezone": "Berlin"})],
     "rules[0].if.hours.timezone must be the IANA name of a time zone, such as Europe/Berlin"),
    ([rule(device="old")], "rules[0].if.device must be one of new, returning"),
    ([rule(contry=["DE"])],
     "rules[0].if.contry is not a field: possible are platform, system, browser, language, country, query, "
     "from, until, weekdays, hours, device"),
    ([{"then": rule()["then"] | split(1, 1)["then"]}],
     "rules[0].then must have destination_url or split, not both"),
    ([split(1)], "rules[0].then.split must be a list of 2 to 10 variants"),
    ([split(0, 0)], "rules[0].then.split must have a weight above 0"),
    ([split(1, -1)], "rules[0].then.split[1].weight must be a whole number from 0 to 10000"),
    ([{"then": {"split": [split(1, 1)["then"]["split"][0]] * 2}}],
     "rules[0].then.split[1].name must be the name of one variant only"),
    ([{"then": {"split": [{"name": "A", "weight": 1}] * 2}}],
     "rules[0].then.split[0].destination_url is required"),
    ([{"then": {"destination_url": f"https://a.example/{'x' * 8000}"}}] * 5,
     "rules must have at most 32768 bytes as JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "message"), BAD)
def test_a_bad_rule(value: object, message: str) -> None:
    """The error names the rule, the field and what it may be."""
    with pytest.raises(InvalidField) as error:
        LinkRules().parse("rules", value)
    assert str(error.value) == message


def test_the_countries() -> None:
    """The table is the standard's, with its present codes."""
    assert len(countries()) > 240
    assert (countries()["DE"], countries()["XK"]) == ("Germany", "Kosovo")
