"""What a page notices of the browser SDK while it is at work itself, in three engines.

`python -m benchmarks.sdk_beside_work` opens a page that works in short tasks, one after another, for a second
and a half. In turns, the page does only that, or it also loads the SDK meanwhile, starts it as a first visit,
and sends a sale. It prints for each engine, without the SDK and with it, the median of the longest pause
between two tasks of the page, and of the number of tasks that it got through.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Playwright, sync_playwright

from tests.browser.engines import ENGINES, PlaywrightTab, Tab
from tests.browser.recording_server import RecordingServer, recording_server
from tests.browser_setup import HOW_TO, find_chromium

WORK = """new Promise((finished) => {
  const channel = new MessageChannel(), begin = performance.now();
  let tasks = 0, longest = 0, before = begin, sum = 0;
  channel.port1.onmessage = () => {
    const now = performance.now();
    longest = Math.max(longest, now - before);
    for (let i = 0; i < 1e5; i++) sum += i % 7;
    tasks++;
    before = performance.now();
    if (now - begin < 1500) channel.port2.postMessage(sum);
    else finished([longest, tasks]);
  };
  channel.port2.postMessage(0);
  if (WITH_SDK) setTimeout(() => {
    const script = document.createElement('script');
    script.src = '/waylink.js?' + begin;
    script.onload = () => {
      Waylink.init({apiKey: 'k'});
      Waylink.trackConversion({revenue: 1, currency: 'EUR', transaction_id: 'o-1'});
    };
    document.head.append(script);
  }, 300);
})"""
PAGE = "<script>delete window.Waylink</script>"  # the server's pages have the script already


@contextmanager
def chromium(playwright: Playwright) -> Iterator[Tab]:
    """A tab of the machine's Chromium."""
    executable = find_chromium()
    if not executable:
        raise SystemExit(HOW_TO)
    with playwright.chromium.launch(executable_path=executable) as browser:
        yield PlaywrightTab(browser.new_page())


def measured(tab: Tab, server: RecordingServer, rounds: int) -> dict[bool, list[tuple[float, int]]]:
    """Longest pause in milliseconds and number of tasks, a round each, without the SDK and with it."""
    found: dict[bool, list[tuple[float, int]]] = {False: [], True: []}
    for each in range(rounds):
        for has_sdk, values in found.items():
            # Of its own host, so that each visit is a first one.
            tab.goto(server.url("/?utm_source=news", f"work-{each}-{has_sdk}.localhost".lower()))
            longest, tasks = tab.js(WORK.replace("WITH_SDK", str(has_sdk).lower()))
            values.append((longest, tasks))
    return found


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--rounds", type=int, default=9)
    rounds = options.parse_args().rounds
    with recording_server() as server, sync_playwright() as playwright:
        server.head = PAGE
        for name, opened in {"chromium": chromium, **ENGINES}.items():
            with opened(playwright) as tab:
                for has_sdk, all_rounds in measured(tab, server, rounds).items():
                    pause, tasks = (statistics.median(values) for values in zip(*all_rounds, strict=True))
                    what = "with the SDK" if has_sdk else "without it"
                    print(f"{name}, {what}: longest pause {pause:.1f} ms, {tasks:.0f} tasks of the page")
        sales = server.kinds.count("conversion")
        print(f"{sales} of {rounds * (1 + len(ENGINES))} sales arrived")


if __name__ == "__main__":
    main()
