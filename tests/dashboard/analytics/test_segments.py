"""Segments on the overview, and their page. What holds of each resource is in tests/resources."""

from __future__ import annotations

from html import unescape

import pytest

from backend.domain.analytics.segments import SEGMENTS
from backend.domain.errors import InvalidField
from tests.dashboard.people import Person


async def test_filters_are_saved_chosen_and_deleted(person: Person) -> None:
    """The overview saves its filters, offers them to every view with its period, and a page deletes them."""
    assert "Save the segment" not in (await person.get("/")).text
    filtered = "/?campaign=&country=DE"
    made = await person.send(filtered, "/segments", segment_name="German letters")
    assert (made.status_code, made.headers["Location"]) == (303, "/?campaign=&country=DE")
    shown = (await person.get(filtered)).text
    assert 'aria-current="true"><span>Segment: <strong>German letters</strong>' in shown
    assert "Save the segment" not in shown
    offered = unescape((await person.get("/?period=7&platform=ios")).text)
    assert 'href="/?period=7&campaign=&country=DE"><span>Segment: German letters</span>' in offered
    listed = unescape((await person.get("/segments")).text)
    assert '<a href="/?campaign=&country=DE">German letters</a>' in listed
    assert "Campaign: None, Country: DE" in listed
    where = listed.partition('action="/segments/')[2].partition('"')[0]
    deleted = await person.send("/segments", f"/segments/{where}")
    assert deleted.headers["Location"] == "/segments?notice=thing-deleted"
    assert "German letters" not in (await person.get(filtered)).text


async def test_a_refused_form_is_shown_again(person: Person) -> None:
    """With what was sent and what is wrong with the name. A filter that can't be saved is named."""
    name = await person.send("/?country=DE", "/segments", segment_name="x" * 101)
    assert "Name of the segment must have at most 100 characters." in name.text
    assert 'href="#segment_name">Name of the segment</a>' in name.text
    saved = await person.submit(name, "/segments", segment_name="Letters")
    assert saved.headers["Location"] == "/?country=DE"
    control = await person.send("/?campaign=a%07", "/segments", segment_name="Bells")
    assert "The filter campaign must not contain control characters." in control.text


async def test_what_is_wrong_is_told(person: Person) -> None:
    """A name that can't be is said to be wrong, and so is what no form of ours sends."""
    filtered = "/?country=DE"
    for fields in ({"segment_name": ""}, {"segment_name": "x" * 101}, {"filters": "[1]"}, {"filters": "{"}):
        answer = await person.send(filtered, "/segments", **{"segment_name": "x"} | fields)
        assert answer.status_code in {400, 422}
    assert "None yet" in (await person.get("/segments")).text


@pytest.mark.parametrize(
    ("filters", "wrong"),
    [
        ({}, "filters must be an object with at least one field"),
        ({"colour": "red"}, "filters.colour can't be filtered by"),
        ({"outcome": "counted"}, "filters.outcome can't be filtered by"),
        ({"country": ""}, "filters.country must not be empty"),
        ({"campaign": "x" * 301}, "filters.campaign must have at most 300 characters"),
        ({"campaign": "a\x07"}, "filters.campaign must not contain control characters"),
        ({"link": "x"}, "filters.link must be a UUID"),
    ],
)
def test_what_filters_may_be(filters: object, wrong: str) -> None:
    """A segment has at least one filter, each of a field of the overview, with a value that it may have."""
    with pytest.raises(InvalidField, match=wrong):
        SEGMENTS.told["filters"].parse("filters", filters)
