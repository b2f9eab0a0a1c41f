"""How phones match a link with association files and manifests."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.accounts.apps import AndroidApp
from backend.domain.taps.apple_file import parse_apple_file
from backend.domain.taps.components import UnreadableFile
from backend.domain.taps.google_file import parse_google_file
from backend.domain.taps.manifest import parse_manifest
from backend.domain.taps.wildcards import matches

FINGERPRINT = ":".join(["AB"] * 32)
APP = AndroidApp("com.shop.app", (FINGERPRINT,))
BASE = "https://go.shop.com"


@settings(max_examples=60)
@given(st.text("ab?*/", max_size=12), st.text("ab/*", max_size=12))
def test_wildcards_are_those_of_regular_expressions(pattern: str, text: str) -> None:
    """A pattern matches what its regular expression does: .* for each star, . for each question mark."""
    written = "".join({"*": ".*", "?": "."}.get(character, re.escape(character)) for character in pattern)
    assert matches(pattern, text) is bool(re.fullmatch(written, text, re.DOTALL))


def apple(*components: dict[str, object], **applinks: object) -> dict[str, object]:
    return {"applinks": {"details": [{"appIDs": ["T.app"], "components": [*components]}], **applinks}}


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["/a", "/b*", "/?", "*", "/a/?*"]), st.booleans()), max_size=6))
def test_the_first_component_that_matches_decides(rules: list[tuple[str, bool]]) -> None:
    """Whatever comes behind the first match, in Apple's file and in Google's, makes no difference."""
    components: list[dict[str, object]] = [{"/": path, "exclude": exclude} for path, exclude in rules]
    file, statement = parse_apple_file(apple(*components)), google(*components).about(APP)
    assert statement
    for path in ("/a", "/b", "/bcd", "/a/b", "/cc"):
        first = next((exclude for pattern, exclude in rules if matches(pattern, path)), None)
        found = file.decide("T.app", BASE + path)
        assert (found.is_excluding if found else None) is first
        assert statement.opens(BASE + path) is (first is False or not rules)


@pytest.mark.parametrize(
    ("component", "fitting", "other"),
    [
        ({"#": "no_universal_links"}, "/a#no_universal_links", "/a#other"),
        ({"/": "/help/*", "?": {"articleNumber": "????"}}, "/help/x?articleNumber=1234", "/help/x"),
        ({"/": "/buy/*", "?": "x=?*"}, "/buy/1?x=2", "/buy/1?x="),
        ({"?": {"a": "1"}}, "/?a=1&a=1", "/?a=1&a=2"),
        ({"/": "/A", "caseSensitive": False}, "/a", "/b"),
        ({"/": "/"}, "", "/a"),
    ],
)
def test_parts_of_an_address(component: dict[str, object], fitting: str, other: str) -> None:
    """Path, query, single parameters and fragment must all match; parameters that repeat, each time."""
    file = parse_apple_file(apple(component))
    assert file.decide("T.app", BASE + fitting)
    assert file.decide("T.app", BASE + other) is None


APPLE = [
    # Slashes at the ends, and the segment that a star stands for.
    ({"/": "/sale/*"}, ["/sale", "/sale/", "/sale//", "/sale/7"], ["/sales", "/sal", "/x/sale"]),
    ({"/": "/a/b/*"}, ["/a/b", "/a/b/c/d"], ["/a", "/a/bc"]),
    ({"/": "sale"}, ["/sale", "/sale/"], ["/sales", "/xsale"]),
    ({"/": "/sale/"}, ["/sale", "/sale//"], ["/sale/x"]),
    ({"/": "//sale"}, ["/sale"], ["/x"]),
    ({"/": "*sale"}, ["/xsale", "/x/sale"], ["/salex"]),
    ({"/": "/a/*/c"}, ["/a/b/c"], ["/a/c"]),
    ({"/": "/id/????"}, ["/id/4815", "/id/4815/"], ["/id/481", "/id/481/"]),
    ({"/": "/"}, ["", "/"], ["/x"]),
    ({"/": "/?*"}, ["/x"], ["/", ""]),
    # Percent-encoding.
    ({"/": "/a b"}, [], ["/a%20b"]),
    ({"/": "/a%20b"}, ["/a%20b"], []),
    ({"/": "/a b", "percentEncoded": False}, ["/a%20b"], []),
    ({"/": "/a%20b", "percentEncoded": False}, [], ["/a%20b"]),
    ({"/": "/größe", "percentEncoded": False}, ["/gr%C3%B6%C3%9Fe", "/gr%c3%b6%c3%9fe"], []),
    ({"/": "/gr%C3%B6sse"}, [], ["/gr%c3%b6sse"]),
    ({"/": "/a/b", "percentEncoded": False}, ["/a%2Fb"], []),
    ({"?": {"q": "a%20b"}}, ["/?q=a%20b"], ["/?q=a+b"]),
    ({"?": {"q": "a b"}, "percentEncoded": False}, ["/?q=a%20b"], []),
    # Parameters: absent ones are empty, repeated ones match each, and no text takes all of them away.
    ({"?": {"b": "*"}}, ["/x", "/x?a=1"], []),
    ({"?": {"b": "?*"}}, ["/x?b=1"], ["/x", "/x?b", "/x?b="]),
    ({"?": {"b": ""}}, ["/x", "/x?b="], ["/x?b=1"]),
    ({"?": {"id": "7"}}, ["/x?id=7&id=7"], ["/x?id=7&id=8", "/x?id=8&id=7"]),
    ({"?": {"a": "1", "flag": True}}, ["/x?a=2", "/x"], []),
    ({"?": {"a": None}}, ["/x?a=2"], []),
    ({"?": {"a": ["1"]}}, ["/x?a=2"], []),
    ({"?": "a=1"}, ["/x?a=1"], ["/x?a=1&b=2", "/x"]),
    ({"#": "?*"}, ["/x#a"], ["/x"]),
    # What is not known.
    ({"/": "/a", "casesensitive": False, "future": {"a": 1}}, ["/a"], ["/A"]),
    ({}, ["/anything?a#b"], []),
]


@pytest.mark.parametrize(("component", "fitting", "others"), APPLE)
def test_components_are_read_as_ios_does(
    component: dict[str, object], fitting: list[str], others: list[str]
) -> None:
    """By the rules that Apple's `swcutil match` shows where its documentation is silent."""
    file = parse_apple_file(apple(component))
    assert [path for path in (*fitting, *others) if file.decide("T.app", BASE + path)] == fitting


@pytest.mark.parametrize(
    ("defaults", "fitting", "others"),
    [
        ({"/": "/foo/*"}, ["/foo/1", "/foo"], ["/bar"]),
        ({"?": {"id": "??"}}, ["/bar?id=77"], ["/bar?id=7", "/bar?id=777"]),
        ({"caseSensitive": False, "/": "/foo"}, ["/FOO"], ["/bar"]),
        ({"percentEncoded": False, "/": "/a b"}, ["/a%20b"], ["/ab"]),
    ],
)
def test_defaults_are_a_part_of_each_component(
    defaults: dict[str, object], fitting: list[str], others: list[str]
) -> None:
    """Those of the domain, and those of an app, whose word counts more; a component's own counts most."""
    of_app = apple({"#": "*"})
    of_app["applinks"]["details"][0]["defaults"] = defaults  # type: ignore[index]
    for content in (apple({"#": "*"}, defaults=defaults), of_app):
        file = parse_apple_file(content)
        assert [path for path in (*fitting, *others) if file.decide("T.app", BASE + path)] == fitting
    excluding = parse_apple_file(apple({"#": "*"}, defaults={"exclude": True})).decide("T.app", BASE)
    assert excluding
    assert excluding.is_excluding


def test_apps_share_a_file() -> None:
    """The first match may be another app's; older files have paths, with NOT before what they exclude."""
    first = {"appIDs": ["T.other"], "components": [{"/": "/other/*"}]}
    second = {"appID": "T.app", "paths": ["NOT /no", "*"]}
    file = parse_apple_file({"applinks": {"apps": [], "details": [first, second]}})
    assert file.decide("T.app", f"{BASE}/other/x") is None
    excluded, taken = file.decide("T.app", f"{BASE}/no"), file.decide("T.app", f"{BASE}/yes")
    assert [pattern and pattern.is_excluding for pattern in (excluded, taken)] == [True, False]


def google(*components: dict[str, object], package: str = "com.shop.app", fingerprint: str = FINGERPRINT):  # type: ignore[no-untyped-def]
    relation = "delegate_permission/common.handle_all_urls"
    target = {
        "namespace": "android_app",
        "package_name": package,
        "sha256_cert_fingerprints": [fingerprint],
    }
    extensions = {relation: {"dynamic_app_link_components": [*components]}}
    other = {"relation": ["delegate_permission/common.get_login_creds"], "target": target}
    return parse_google_file(
        [other, {"relation": [relation], "target": target, "relation_extensions": extensions}]
    )


def test_android_verifies_package_and_certificate() -> None:
    """A statement counts for its package with one of its certificates."""
    assert google().about(APP)
    assert google(fingerprint=FINGERPRINT.lower()).about(APP)
    assert google(package="com.shop.other").about(APP) is None
    assert google(fingerprint=":".join(["CD"] * 32)).about(APP) is None


def manifest(data: str, verified: str = "true") -> str:
    return f"""<manifest xmlns:android="http://schemas.android.com/apk/res/android"><application><activity>
      <intent-filter android:autoVerify="{verified}">
        <action android:name="android.intent.action.VIEW"/>
        <category android:name="android.intent.category.BROWSABLE"/>
        <data android:scheme="https"/><data android:host="go.shop.com"/>{data}
      </intent-filter></activity></application></manifest>"""


@pytest.mark.parametrize(
    ("data", "taken", "left"),
    [
        ("", "/anything", None),
        ('<data android:path="/a"/>', "/a", "/a/b"),
        ('<data android:pathPrefix="/a"/>', "/a/b", "/b"),
        ('<data android:pathSuffix=".html"/>', "/a.html", "/a.htm"),
        ('<data android:pathPattern="/a/.*"/>', "/a/b/c", "/b"),
        ('<data android:pathPattern="/.*/b"/>', "/x/b", "/x/c"),
        ('<data android:pathPattern="/ab*c"/>', "/abbbc", "/abd"),
        (r'<data android:pathPattern="/a\\.b"/>'.replace(r"\\", "\\"), "/a.b", "/axb"),
        ('<data android:path="/a"/><data android:path="/b"/>', "/b", "/c"),
        ('<data android:host="*.shop.com"/>', "/a", None),
    ],
)
def test_paths_of_a_manifest(data: str, taken: str, left: str | None) -> None:
    """Each kind of path takes what Android's documentation says, and nothing else."""
    [found] = parse_manifest(manifest(data))
    assert found.is_verified
    assert found.matches(BASE + taken)
    assert left is None or not found.matches(BASE + left)
    assert not found.matches("http://go.shop.com" + taken)
    assert not found.matches("https://elsewhere.com" + taken)


@settings(max_examples=60)
@given(st.text("ab/.", max_size=10), st.text("ab/.", max_size=4))
def test_patterns_of_manifests_that_begin_or_end_anywhere(path: str, text: str) -> None:
    """`.*` at the end takes every rest; without wildcards, a pattern is the path itself."""
    plain = text.replace(".", r"\.")
    [begins] = parse_manifest(manifest(f'<data android:pathPattern="/{plain}.*"/>'))
    [equals] = parse_manifest(manifest(f'<data android:pathPattern="/{plain}"/>'))
    assert begins.matches(f"{BASE}/{path}") is f"/{path}".startswith(f"/{text}")
    assert equals.matches(f"{BASE}/{path}") is (path == text)


@pytest.mark.parametrize(
    "content",
    [
        [],
        {},
        {"applinks": {}},
        {"applinks": {"details": [{"appIDs": [1]}]}},
        apple({"/": 5}),
        apple({"/": "$(lang)"}),
    ],
)
def test_other_json_is_no_apple_file(content: object) -> None:
    """What is not of the form that phones read is refused with a sentence."""
    with pytest.raises(UnreadableFile):
        parse_apple_file(content)


@pytest.mark.parametrize("content", [{}, [1], [{"relation": "x"}], [{"relation": [], "target": []}]])
def test_other_json_is_no_google_file(content: object) -> None:
    """So is what is no list of statements."""
    with pytest.raises(UnreadableFile):
        parse_google_file(content)


@pytest.mark.parametrize(
    "text", ["no xml", "<!DOCTYPE a><a/>", manifest('<data android:pathAdvancedPattern="/"/>')]
)
def test_manifests_that_are_not_read(text: str) -> None:
    """Other texts, entities, and patterns that this version does not know are refused."""
    with pytest.raises(UnreadableFile):
        parse_manifest(text)
