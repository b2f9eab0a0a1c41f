"""The cost of the browser SDK for a page, compared with others: the bytes that a browser receives, and the
time to evaluate and start it.

`python -m benchmarks.sdk` loads each script into a fresh Chromium profile, in turns, as a first visit with an
attribution signal, at full speed and with the processor slowed down six times. It prints medians: the time to
evaluate and start the script, for which the page waits; the whole time of the page's main thread from loading
the script until its request is answered and handled; and the longest task when slowed down (0 if none is
longer than the 50 ms that browsers call long). Requests are answered at once, so the network does not count.

On a machine that is busy with other things the clock says little: `--processor` counts the time of the
processor instead, without what the page waits for the browser's other processes.

"first uses" is no SDK: a script that asks once for a cookie and for each storage, keeps a word in them, and
sends one request. No script that keeps a device and what it has to send can cost less. "all first uses" also
does once what else Waylink's SDK asks of a browser: a lock, random numbers, a time as text, the address's
query, listeners, hooks of the history. That is the least that it can come to.

The other SDKs come from npm, with locked versions, and with what their documentation calls automatic
tracking. Dub's npm package only loads a script from Dub's servers; measure a copy of that script with `--peer
dub=script.js`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, CDPSession, Page, Route, sync_playwright

from benchmarks.measuring.received_bytes import CODINGS, received_bytes
from sdk_build.node import install_packages, run_node
from tests.browser.recording_server import acknowledge
from tests.browser_setup import HOW_TO, find_chromium

PEERS = Path(__file__).parent / "sdk_peers"
WAYLINK = Path(__file__).parents[1] / "sdk_dist" / "waylink.js"
START = "\nWaylink.init({apiKey: 'c_web_benchmark'});"
PAGE = "https://shop.example/?utm_source=benchmark"
SCRIPT = "https://service.example/waylink.js"  # from another host, as sites load each of them
BLANK = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title><h1>Shop</h1></html>'
CORS = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*"}
# Parts that a page loads only on demand, so they are not measured.
ON_DEMAND = ["--external:./replay-*"]
SPEEDS = (1, 6)  # how many times slower than this machine
INJECT = """(address) => new Promise((loaded) => {
  window.longTasks = [];
  new PerformanceObserver((list) => longTasks.push(...list.getEntries())).observe({type: 'longtask'});
  const script = document.createElement('script');
  script.src = address;
  script.onload = () => loaded();
  document.head.append(script);
})"""
FIRST_USES = """(async () => {
  const kept = [document.cookie, sessionStorage.getItem('a'), localStorage.getItem('a')];
  document.cookie = 'a=b; max-age=9; path=/; samesite=lax';
  sessionStorage.setItem('a', document.cookie + kept);
  localStorage.setItem('a', 'b');
  const answer = await fetch('https://service.example/', {method: 'POST', body: '{}', keepalive: true});
  localStorage.setItem('a', JSON.stringify(await answer.json()));
})()"""
# The same, with the rest of what Waylink's SDK asks of a browser on a first visit.
ALL_FIRST_USES = """(async () => {
  const call = {
    id: crypto.getRandomValues(new Uint8Array(16)).join(),
    at: new Date().toISOString(),
    signals: [...new URLSearchParams(location.search)].filter(([name]) => /^utm_(source|medium)$/.test(name)),
    page: location.origin + location.pathname,
  };
  for (const name of ['pagehide', 'visibilitychange', 'pageshow', 'online', 'popstate']) {
    addEventListener(name, () => call);
  }
  for (const name of ['pushState', 'replaceState']) {
    History.prototype[name] = new Proxy(History.prototype[name], {});
  }
  await navigator.locks.request('a', {signal: AbortSignal.timeout(10000)}, () => call);
  localStorage.setItem('call', JSON.stringify(call));
})().then(() => FIRST_USES)""".replace("FIRST_USES", FIRST_USES)
CLOCKS = ("timeTicks", "threadTicks")  # the names of Chromium's clocks: the wall's, and the processor's
EVALUATION = "devtools.timeline"  # the category of Chromium's traces that has the evaluation of scripts
# Time for what a script starts for later, such as reading an answer.
SETTLE = "() => new Promise((done) => setTimeout(() => setTimeout(done, 50), 400))"


@dataclass
class Script:
    """A script with the call that starts it. `shipped` is the part that a browser downloads."""

    name: str
    shipped: str
    started: str
    starts: dict[int, list[float]] = field(default_factory=lambda: {speed: [] for speed in SPEEDS})
    times: dict[int, list[float]] = field(default_factory=lambda: {speed: [] for speed in SPEEDS})
    requests: int = 0
    received: dict[str, int] = field(default_factory=dict)  # bytes, by content coding
    longest: list[float] = field(default_factory=list)  # at the slowest speed, a page each

    def start(self, speed: int) -> float:
        """The median time in milliseconds that the page waits for the script at this speed."""
        return statistics.median(self.starts[speed])

    def median(self, speed: int) -> float:
        """The median time in milliseconds of the page's main thread at this speed, including the
        page itself.
        """
        return statistics.median(self.times[speed])


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument(
        "--rounds", type=int, default=15, help="how often each script is loaded at each speed"
    )
    options.add_argument("--peer", action="append", default=[], metavar="NAME=FILE", help="one more script")
    options.add_argument("--processor", action="store_true", help="count the time of the processor alone")
    arguments = options.parse_args()
    first_uses = Script("first uses", FIRST_USES, FIRST_USES)
    all_first_uses = Script("all first uses", ALL_FIRST_USES, ALL_FIRST_USES)
    scripts = [_waylink(), *_npm_peers(), first_uses, all_first_uses, *map(_from_file, arguments.peer)]
    nothing = Script("nothing", "", "")
    with sync_playwright() as playwright:
        executable = find_chromium()
        if not executable:
            raise SystemExit(HOW_TO)
        # Some scripts do nothing in a browser that says it is automated.
        switches = ["--disable-blink-features=AutomationControlled"]
        with playwright.chromium.launch(executable_path=executable, args=switches) as browser:
            _receive(browser, scripts)
            _measure(browser, [nothing, *scripts], arguments.rounds, CLOCKS[arguments.processor])
    _print(nothing, scripts)


def _waylink() -> Script:
    code = WAYLINK.read_text()
    return Script("waylink", code, code + START)


def _npm_peers() -> list[Script]:
    """The other SDKs from npm, bundled and minified as a site would do it."""
    install_packages()
    install_packages(PEERS)
    with tempfile.TemporaryDirectory() as folder:
        built = [_bundle(entry, Path(folder)) for entry in sorted(PEERS.glob("*.js"))]
    return [Script(f"{name} (npm)", code, code) for name, code in built]


def _bundle(entry: Path, folder: Path) -> tuple[str, str]:
    output = folder / entry.name
    options = ["--bundle", "--minify", "--format=iife", *ON_DEMAND, f"--outfile={output}"]
    run_node("esbuild", str(entry), *options)
    return entry.stem, output.read_text()


def _from_file(argument: str) -> Script:
    name, _, path = argument.partition("=")
    code = Path(path).read_text()
    return Script(name, code, code)


def _receive(browser: Browser, scripts: Sequence[Script]) -> None:
    sizes = received_bytes(browser, [script.shipped for script in scripts])
    for script, received in zip(scripts, sizes, strict=True):
        script.received = received


def _measure(browser: Browser, scripts: Iterable[Script], rounds: int, clock: str) -> None:
    """Load every script once in each round, so that a busy moment of the machine affects all of them."""
    for _ in range(rounds):
        for speed in SPEEDS:
            for script in scripts:
                _load(browser, script, speed, clock)


def _load(browser: Browser, script: Script, speed: int, clock: str) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        requests: list[str] = []
        page.route("**/*", lambda route: _answer(route, script, requests))
        page.goto(PAGE)
        developer_tools = context.new_cdp_session(page)
        developer_tools.send("Performance.enable", {"timeDomain": clock})
        developer_tools.send("Emulation.setCPUThrottlingRate", {"rate": speed})
        browser.start_tracing(page=page, categories=[EVALUATION])
        before = _main_thread(developer_tools)
        page.evaluate(INJECT, SCRIPT)
        page.evaluate(SETTLE)
        script.times[speed].append(_main_thread(developer_tools) - before)
        script.starts[speed].append(_evaluation(browser.stop_tracing()))
        if speed == SPEEDS[-1]:
            script.longest.append(_longest_task(page))
        script.requests = len(requests)


def _evaluation(trace: bytes) -> float:
    """The time in milliseconds to evaluate the script, including the call that starts it."""
    events = json.loads(trace)["traceEvents"]
    evaluated = [event for event in events if event["name"] == "EvaluateScript"]
    return sum(float(event["dur"]) for event in evaluated if event["args"]["data"]["url"] == SCRIPT) / 1000


def _main_thread(developer_tools: CDPSession) -> float:
    """The time in milliseconds that the page's main thread has worked, including work after promises."""
    metrics = developer_tools.send("Performance.getMetrics")["metrics"]
    return 1000 * next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")


def _longest_task(page: Page) -> float:
    """The length in milliseconds of the longest task; 0 if no task is longer than 50 ms."""
    return float(page.evaluate("Math.max(0, ...longTasks.map((task) => task.duration))"))


def _answer(route: Route, script: Script, requests: list[str]) -> None:
    """Answer a request of the browser: with an empty page, the script, or what the script expects."""
    if route.request.resource_type == "document":
        route.fulfill(body=BLANK, content_type="text/html")
        return
    if route.request.url == SCRIPT:
        route.fulfill(body=script.started, content_type="text/javascript")
        return
    requests.append(route.request.url)
    batch = json.loads(route.request.post_data or "{}")
    body = acknowledge(batch)[2] if "calls" in batch else "{}"
    route.fulfill(body=body, content_type="application/json", headers=CORS)


def _print(nothing: Script, scripts: list[Script]) -> None:
    """Print a line for each script, and how Waylink's SDK compares."""
    columns = [f"{what}, {speed}x" for what in ("start", "all") for speed in SPEEDS]
    print(f"{'bytes received':18}", *(f"{coding:>9}" for coding in CODINGS))
    for script in scripts:
        print(f"{script.name:18}", *(f"{script.received[coding]:>9}" for coding in CODINGS))
    print(f"\n{'':18}", *(f"{column:>11}" for column in columns), "  requests  longest task")
    for script in scripts:
        times = [
            *map(script.start, SPEEDS),
            *(script.median(speed) - nothing.median(speed) for speed in SPEEDS),
        ]
        print(
            f"{script.name:18}",
            *(f"{milliseconds:>8.1f} ms" for milliseconds in times),
            f"{script.requests:>10}{statistics.median(script.longest):>11.0f} ms",
        )
    ours, slow = scripts[0], SPEEDS[-1]
    for peer in scripts[1:]:
        whole = (ours.median(slow) - nothing.median(slow)) / (peer.median(slow) - nothing.median(slow))
        print(
            f"waylink to {peer.name}, throttled: {ours.start(slow) / peer.start(slow):.2f} times the start, "
            f"{whole:.2f} times all time; "
            f"{ours.received['br'] / peer.received['br']:.2f} times the bytes with brotli"
        )


if __name__ == "__main__":
    main()
