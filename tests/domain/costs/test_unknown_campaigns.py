"""Campaigns of costs that nothing else has."""

from __future__ import annotations

from backend.domain.costs.unknown_campaigns import unknown_campaigns, unknown_words


def test_what_is_not_known_is_named_with_what_it_is_like() -> None:
    """Names count exactly as they are written; one that is much alike is suggested."""
    known = {"spring-sale", "Summer", "autumn"}
    named = ["spring-sale", "spring_sale", "summer", "billboard", "summer"]
    assert unknown_campaigns(named, known) == {
        "spring_sale": "spring-sale",
        "summer": "Summer",
        "billboard": None,
    }
    assert unknown_words("Summer") == "No link and no visit has this campaign. Is it Summer?"
    assert unknown_words(None) == "No link and no visit has this campaign."
