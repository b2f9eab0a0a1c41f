"""Whatever storage, cookies, locks, clocks and addresses answer, no page stands still and promises end.

The page's own work goes on beside it: the test says how late a timer of the page came at most.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.browser.recording_server import acknowledge, refuse
from tests.browser.visitor import Visitor
from tests.examples import examples

# More than a busy machine makes a timer late, and less than a visitor takes for a page that hangs.
LONGEST_TASK = 5000  # milliseconds
# Each costs Firefox as much as three do the others.
EXAMPLES = 12
# Wrong answers of a browser's functions. Each is a function of a page that something may have replaced.
WRONG: dict[str, list[str]] = {
    "navigator.locks.request": [
        "() => undefined",
        "() => Promise.resolve()",
        "() => Promise.reject(new Error('no'))",
        "() => { throw new Error('no') }",
        "(name, ...given) => given.at(-1)(null)",
        "(name, ...given) => { given.at(-1)({}); return given.at(-1)({}) }",
        "() => 5",
    ],
    "Date.now": ["() => NaN", "() => -1", "() => Infinity", "() => 1e300", "() => 'x'", "() => undefined"],
    "performance.now": ["() => NaN", "() => -1e9", "() => 'x'"],
    "Math.random": ["() => NaN", "() => 1", "() => 'x'"],
    "crypto.randomUUID": ["() => ''", "() => undefined", "() => ({})", "() => { throw new Error('no') }"],
    "crypto.getRandomValues": ["() => undefined", "() => { throw new Error('no') }", "given => given"],
    "Storage.prototype.getItem": [
        "() => undefined",
        "() => 5",
        "() => ({})",
        "() => '\\u0000'",
        "name => name",
    ],
    "Storage.prototype.setItem": ["() => undefined", "() => { throw new Error('full') }"],
    "Storage.prototype.removeItem": ["() => undefined"],
    "history.replaceState": ["() => { throw new Error('no') }"],
}
RUBBISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
TEXTS = st.text(max_size=20) | RUBBISH.map(json.dumps)


@st.composite
def spoilt(draw: st.DrawFn, text: str) -> str:
    """A text that the SDK stored, of which something is missing, other, or cut off; or any other text."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict) and value and draw(st.booleans()):
        name = draw(st.sampled_from(sorted(value)))
        changed = dict(value)
        if draw(st.booleans()):
            del changed[name]
        else:
            changed[name] = draw(RUBBISH)
        return json.dumps(changed)
    if isinstance(value, list) and value and draw(st.booleans()):
        return json.dumps([*value, draw(RUBBISH)])
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else draw(TEXTS)


@pytest.fixture
def remembered(visitor: Visitor) -> dict[str, dict[str, str]]:
    """What the SDK stores of a visitor whose sale waits, by the storage that has it."""
    visitor.server.answer = refuse(503)
    visitor.visit("/?utm_source=ads")
    visitor.js(
        "void Waylink.identify({customer_id: 'ada'}), Waylink.trackConversion({revenue: 1, currency: 'EUR'})"
    )
    kept: dict[str, dict[str, str]] = visitor.js(
        "({localStorage: {...localStorage}, sessionStorage: {...sessionStorage}})"
    )
    visitor.server.answer = acknowledge
    return kept


def test_every_path_ends(
    visitor: Visitor,
    remembered: dict[str, dict[str, str]],
    tell: Callable[[str], None],
    request: pytest.FixtureRequest,
) -> None:
    """The main thread goes on, init and calls end, and no error reaches the page."""
    latest: list[float] = []

    # To shrink an example would take the time limit for each.
    @settings(phases=[Phase.generate], max_examples=examples(EXAMPLES))
    @given(st.data())
    def try_rubbish(data: st.DataObject) -> None:
        draw: Callable[[st.SearchStrategy[Any]], Any] = data.draw
        stored = {
            kind: {name: draw(st.just(text) | spoilt(text)) for name, text in texts.items()}
            for kind, texts in remembered.items()
        }
        wrong = draw(
            st.dictionaries(st.sampled_from(sorted(WRONG)), st.integers(0, 99), max_size=2).map(
                lambda chosen: {
                    name: WRONG[name][number % len(WRONG[name])] for name, number in chosen.items()
                }
            )
        )
        cookie = draw(st.sampled_from(["", "x", "00000000-0000-4000-8000-000000000000", "%00;=", "é" * 50]))
        address = draw(
            st.sampled_from(
                ["/", "/?utm_source=%ZZ&gclid=%00", "/?" + "a" * 3000, "/#/x?utm_source=y", "/?=&&"]
            )
        )
        somebody = replace(visitor, shop=f"shop-{uuid.uuid4().hex[:12]}.localhost")
        somebody.open(address)
        late, faults = somebody.js(f"({BEGIN})({json.dumps([stored, cookie, wrong])})")
        assert (late < LONGEST_TASK, faults) == (True, [])
        latest.append(late)

    try_rubbish()
    engine = request.node.callspec.params["tab"]
    tell(f"{engine}: rubbish in storage made a timer of the page {max(latest):.0f} ms late at most")


# Puts the rubbish in place, begins, and resolves once all has ended: with the longest time between two ticks
# of a timer of the page's own, and with the errors that reached the page. The clock is the browser's own.
BEGIN = """([stored, cookie, wrong]) => {
    const clock = performance, now = clock.now.bind(clock), ended = [], faults = [];
    addEventListener('error', (event) => faults.push(event.message));
    addEventListener('unhandledrejection', (event) => faults.push(String(event.reason)));
    for (const [kind, texts] of Object.entries(stored))
        for (const [name, text] of Object.entries(texts)) window[kind].setItem(name, text);
    document.cookie = 'cl_device_id=' + cookie;
    for (const [path, code] of Object.entries(wrong)) {
        const names = path.split('.'), name = names.pop();
        const owner = names.reduce((part, step) => part && part[step], window);
        if (owner) Object.defineProperty(owner, name, {value: eval('(' + code + ')'), configurable: true});
    }
    const note = name => () => ended.push(name);
    const follow = (name, promise) => promise ? promise.then(note(name), note(name)) : ended.push(name);
    return new Promise((done) => {
        let last = now(), late = 0;
        const ticks = setInterval(() => {
            late = Math.max(late, now() - last);
            last = now();
            if (ended.length === 3) done([late, faults], clearInterval(ticks));
        }, 5);
        follow('init', Waylink.init({apiKey: 'c_web_test'}));
        follow('event', Waylink.trackEvent('a'));
        follow('sale', Waylink.trackConversion({revenue: 2, currency: 'EUR', transaction_id: 't'}));
    });
}"""
