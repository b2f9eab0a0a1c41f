"""In which order tests run, and which of them share a process of a run."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import iscoroutinefunction

import pytest

# After the first browser test Playwright's loop counts as running, and asyncio starts no other.
BROWSER_FIXTURE = "playwright"

ENGINES = {"chromium", "firefox", "webkit"}
# What takes longest begins first, so that no worker is left alone with it at the end.
LONGEST_FIRST = (
    "tests/faults/",
    "tests/model/",
    "tests/api/description/test_openapi.py",
    "tests/api/test_error_table.py",
    "tests/storage/embedded/test_mongodb.py",
    "tests/cli/",
    "tests/dashboard/accessibility/",
    "tests/browser/sites/test_hostile_sites.py",
    "tests/browser/test_every_engine.py",
    "tests/browser/test_service_restart.py",
    "tests/browser/test_end_to_end.py",
    "tests/browser/sites/test_demo_site.py",
    "tests/proxy/test_in_a_browser.py",
    "tests/browser/sites/test_good_guest.py",
    "tests/browser/calls/test_delivery.py",
    "tests/dashboard/",
    "tests/browser/",
    "tests/sdk/",
    "tests/api/",
)
# Files whose tests wait most of their time: for processes that start, and for databases that are stopped.
WAITING = ("tests/faults/", "tests/storage/embedded/test_mongodb.py", "tests/webhooks/", "tests/cli/")

# Folders whose files share what is dear to make: they run on one worker, one after the other.
TOGETHER = (
    "tests/archives/",
    "tests/browser/service/",
    "tests/cli/",
    "tests/faults/one_server/",
    "tests/faults/three_servers/",
    "tests/follow/",
    "tests/storage/lifecycle/deletion/",
)


def deal_out(items: list[pytest.Item]) -> None:
    """Put the tests into their order, and mark for xdist which of them stay together.

    Tests in a browser run last, so that those with an event loop of their own are done by then. The tests of
    a file stay on one worker, since they share fixtures, but for that split, which a file without event loops
    does not need; and those that share a tab of one engine, from whatever file.
    """
    whole = _files_of_browsers(items)
    last = {item: _runs_in_browser(item) or file_of(item.nodeid) in whole for item in items}
    places = {at_end: _places(item for item in items if last[item] is at_end) for at_end in (False, True)}
    items.sort(key=lambda item: (last[item], places[last[item]][group_of(item.nodeid)]))
    for item in items:
        kind = "browser" if last[item] else "other"
        place = "any" if "tab" in getattr(item, "fixturenames", ()) else group_of(item.nodeid)
        item.add_marker(pytest.mark.xdist_group("-".join((place, kind, *_engine(item)))))


def put_browsers_last(items: list[pytest.Item]) -> None:
    """Put the tests that were dealt out as those in a browser behind all others, each half in its order."""
    items.sort(key=lambda item: any("-browser" in mark.args[0] for mark in item.iter_markers("xdist_group")))


def _runs_in_browser(item: pytest.Item) -> bool:
    return BROWSER_FIXTURE in getattr(item, "fixturenames", ())


def _files_of_browsers(items: list[pytest.Item]) -> set[str]:
    """The files that have tests in a browser, and none that needs an event loop."""
    browsers = {file_of(item.nodeid) for item in items if _runs_in_browser(item)}
    return browsers - {file_of(item.nodeid) for item in items if _is_async(item)}


def _is_async(item: pytest.Item) -> bool:
    return iscoroutinefunction(getattr(item, "obj", None))


def _rank(file: str) -> tuple[int, str]:
    ranks = (rank for rank, prefix in enumerate(LONGEST_FIRST) if file.startswith(prefix))
    return next(ranks, len(LONGEST_FIRST)), file


def _places(items: Iterable[pytest.Item]) -> dict[str, float]:
    """When each file of these tests, or folder that runs together, is to run, from 0 to 1.

    Those that wait are spread among those that work, so that no processor waits with them.
    """
    files = sorted({group_of(item.nodeid) for item in items}, key=_rank)
    waiting = [file for file in files if file.startswith(WAITING)]
    working = [file for file in files if file not in waiting]
    return {file: (n + 0.5) / len(kind) for kind in (waiting, working) for n, file in enumerate(kind)}


def file_of(nodeid: str) -> str:
    """The file of the test with this id."""
    return nodeid.partition("::")[0]


def group_of(nodeid: str) -> str:
    """The folder whose files run together, or else the file, of the test with this id."""
    return next(filter(nodeid.startswith, TOGETHER), file_of(nodeid))


def _engine(item: pytest.Item) -> set[str]:
    """The engine that the test is given by its parameters, if it is."""
    call = getattr(item, "callspec", None)
    return ENGINES.intersection(map(str, call.params.values())) if call else set()
