"""The plugin for WordPress, run by PHP with the functions of WordPress that it calls, and in a browser.

WordPress itself and the plugins that optimize pages are not run. The names of their filters and attributes
are from their sources.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.recording_server import RecordingServer
from tests.browser.shop_pages import CONVERSION, stored
from tests.integrations.shop_page import HOST, INTEGRATIONS, KEY, open_page, platform
from tests.processes.programs import find_program

PLUGIN = INTEGRATIONS / "wordpress" / "waylink"
HOOKS = Path(__file__).parent / "wordpress_hooks.php"
SCRIPT = "https://links.example.com/waylink.js"
# What WP Rocket 3 and SiteGround's Speed Optimizer 7 ask for patterns.
FILTERS = {
    "rocket_delay_js_exclusions",
    "rocket_exclude_js",
    "rocket_exclude_defer_js",
    "rocket_defer_inline_exclusions",
    "rocket_minify_excluded_external_js",
    "rocket_excluded_inline_js_content",
    "sgo_javascript_combine_excluded_external_paths",
    "sgo_javascript_combine_excluded_internal_paths",
    "sgo_javascript_combine_excluded_inline_content",
}
# What Rocket Loader, LiteSpeed Cache 7, Autoptimize 3, PageSpeed and Cookiebot leave alone.
ATTRIBUTES = {
    "data-cfasync",
    "data-no-optimize",
    "data-no-defer",
    "data-noptimize",
    "data-pagespeed-no-defer",
    "data-cookieconsent",
}


def run_plugin(**options: Any) -> dict[str, Any]:
    """What the plugin does with these options of a site."""
    php = find_program("php", "php-cli")
    command = [php, "-d", "display_errors=stderr", str(HOOKS), json.dumps(options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.fixture(scope="module")
def done() -> dict[str, Any]:
    """What it does on a site that has set it up."""
    return run_plugin(waylink_script=SCRIPT, waylink_api_key="c_web_'\"</script>")


def test_a_site_that_has_not_set_it_up_gets_nothing() -> None:
    """No tag without an address and a key."""
    assert run_plugin()["head"] == ""
    assert run_plugin(waylink_script=SCRIPT)["head"] == ""
    assert run_plugin(waylink_api_key=KEY)["head"] == ""


def test_both_tags_are_left_alone_by_optimizers(done: dict[str, Any]) -> None:
    """Each attribute that optimizers know is on each tag; Rocket Loader's stands before `src`."""
    inline, external = re.findall(r"<script([^>]*)>", done["head"])
    for tag in (inline, external):
        assert set(re.findall(r"data-[a-z-]+", tag)) == ATTRIBUTES
    assert external.index("data-cfasync") < external.index("src=")
    assert re.search(r' async src="https://links\.example\.com/waylink\.js"$', external)


def test_optimizers_that_ask_get_patterns(done: dict[str, Any]) -> None:
    """Each filter keeps what it had, and gets a word of the inline script and the address of the other."""
    asked = {name: given for name, given in done["filters"].items() if re.match("(rocket|sgo)_", name)}
    assert set(asked) == FILTERS
    assert all(given == ["jquery", "Waylink", "links.example.com/waylink.js"] for given in asked.values())


def test_consent_plugins_know_of_the_cookie(done: dict[str, Any]) -> None:
    """The plugin registers with the WP Consent API, and says what the cookie is."""
    assert done["filters"]["wp_consent_api_registered_waylink/waylink.php"] is True
    assert done["cookie"][:4] == ["cl_device_id", "Waylink", "statistics", "400 days"]


def test_the_settings_are_asked_for(done: dict[str, Any]) -> None:
    """On Settings > General, cleaned when they are saved, and shown as text."""
    assert set(done["settings"]) == {"waylink_script", "waylink_api_key"}
    for setting in done["settings"].values():
        assert (setting["group"], setting["page"], setting["clean"]) == ("general", "general", "a")
    field = done["settings"]["waylink_api_key"]["field"]
    assert 'name="waylink_api_key"' in field
    assert "c_web_&#039;&quot;&lt;/script&gt;" in field


def test_a_key_can_end_no_tag(done: dict[str, Any]) -> None:
    """What somebody enters stays a text of JavaScript."""
    assert done["head"].count("</script>") == 2


def test_the_plugins_version_is_waylinks() -> None:
    """The header names it for WordPress."""
    package = json.loads((INTEGRATIONS.parent / "sdk_dist" / "package.json").read_text())
    assert f"\n * Version: {package['version']}\n" in (PLUGIN / "waylink.php").read_text()


def head(server: RecordingServer, **options: Any) -> str:
    """What the plugin writes into the head of a page of the test's shop."""
    text: str = run_plugin(waylink_script=server.url("/waylink.js", HOST), waylink_api_key=KEY, **options)[
        "head"
    ]
    return text


def test_a_visitor_answers_on_the_page(page: Page, faults: list[str], server: RecordingServer) -> None:
    """Nothing without an answer; what waited with consent; nothing is left after a withdrawal."""
    open_page(page, server, head(server) + platform("wp-consent-api"))
    page.evaluate(f"void {CONVERSION}")
    assert (server.requests, stored(page)) == ([], [])
    page.evaluate("platform.answer('agreed')")
    server.wait_for(2)
    assert server.kinds == ["attribution", "conversion"]
    page.evaluate("platform.answer('refused')")
    page.wait_for_function("!Waylink.hasConsent()")
    assert (stored(page), faults) == ([], [])


@pytest.mark.parametrize(("former", "sent"), [("agreed", ["attribution"]), ("refused", [])])
def test_a_visitor_has_answered_before(
    page: Page, server: RecordingServer, former: str, sent: list[str]
) -> None:
    """Who agreed is measured from the start; calls of who refused wait for nothing."""
    open_page(page, server, head(server) + platform("wp-consent-api", former))
    page.evaluate("Waylink.whenAttributed()")
    assert server.kinds == sent
    assert page.evaluate("Waylink.hasConsent()") == bool(sent)


@pytest.mark.parametrize(
    "settings",
    [
        "{consent_type: false}",  # no consent plugin has registered
        "{consent_type: 'optout', waitfor_consent_hook: true}",  # the country is not known yet
    ],
)
def test_nobody_has_asked_yet(page: Page, server: RecordingServer, settings: str) -> None:
    """Nothing is sent while no consent plugin asks, nor before it knows whether it must."""
    open_page(
        page, server, f"<script>settings = {settings}</script>{head(server)}{platform('wp-consent-api')}"
    )
    page.wait_for_function("document.readyState === 'complete'")
    assert not page.evaluate("Waylink.hasConsent()")
    page.evaluate("wp_consent_type = 'optout'; document.dispatchEvent(new Event('wp_consent_type_defined'))")
    server.wait_for(1)


def test_a_site_that_need_not_ask(page: Page, server: RecordingServer) -> None:
    """The filter `waylink_options` changes the options of `init`."""
    open_page(page, server, head(server, init={"consentMode": "not_required"}))
    page.evaluate("Waylink.whenAttributed()")
    assert server.kinds == ["attribution"]
