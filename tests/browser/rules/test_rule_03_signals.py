"""Rule 3: which parameters of an address are attribution signals."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import expect_sent, visit

SIGNALS = (
    "cl_link_id",
    *("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"),
    "fbclid",
    *("gclid", "gbraid", "wbraid"),
    "ttclid",
    *("cl_variant", "cl_click_id"),  # beside the contract's
)
# Close to signals, and none.
OTHERS = ["utm_id", "utm_Source", "UTM_SOURCE", "msclkid", "cl_link", "gclsrc", "dclid", "ref"]


def test_each_signal_alone_is_checked(page: Page, server: RecordingServer) -> None:
    """Must arrive: a check with this signal, though the device is known."""
    visit(page, server)
    for number, name in enumerate(SIGNALS):
        page.evaluate(f"history.pushState(null, '', '/kites?colour=red&{name}=some%20value%2B1&size=9')")
        server.wait_for(number + 2)
    expect_sent(page, server, *["attribution"] * (len(SIGNALS) + 1))
    assert [call["signals"] for call in server.calls[1:-1]] == [{name: "some value+1"} for name in SIGNALS]


def test_all_signals_travel_together(page: Page, server: RecordingServer) -> None:
    """Must arrive: one check with every signal of the address. Must not: a parameter that is none."""
    visit(page, server, "/?ref=x&" + "&".join(f"{name}={index}" for index, name in enumerate(SIGNALS)))
    expect_sent(page, server, "attribution")
    assert server.calls[0]["signals"] == {name: str(index) for index, name in enumerate(SIGNALS)}


def test_what_is_no_signal_is_not_checked(page: Page, server: RecordingServer) -> None:
    """Must not arrive: a check because of a parameter that only resembles a signal."""
    visit(page, server)
    for name in OTHERS:
        page.evaluate(f"history.pushState(null, '', '/?{name}=1')")
    expect_sent(page, server, "attribution")


def test_the_first_of_a_repeated_signal_counts_and_long_ones_are_cut(
    page: Page, server: RecordingServer
) -> None:
    """Must arrive: one value for each signal, at most 512 characters of it."""
    visit(page, server, f"/?utm_source=first&utm_source=second&utm_term={'x' * 2000}")
    expect_sent(page, server, "attribution")
    assert server.calls[0]["signals"] == {"utm_source": "first", "utm_term": "x" * 512}
