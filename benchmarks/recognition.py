"""What the service takes clients for, on public lists of user agents, and what a new one costs.

`python -m benchmarks.recognition FOLDER ...` reads checkouts of these repositories, and fetches nothing:
matomo-org/device-detector (its fixtures), omrilotan/isbot, and monperrus/crawler-user-agents. It prints how
many robots are taken for people, people for robots, and phones for desktops: of each list, and of both halves
of it, into which a hash divides the user agents. The first half is there to be looked at by those who add to
`static/user_agents.json`, the second to see whether what they add holds elsewhere.

Then it prints what each user agent of device-detector costs that was not seen before: each for the first
time, in a new order, and the least of several times, which other programs on the machine disturb less.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from backend.domain.web.client import Client, ClientKind, Platform
from backend.redirector.request.recognition import LONGEST_USER_AGENT, recognize_new

_PEOPLE = frozenset({ClientKind.BROWSER, ClientKind.IN_APP_BROWSER})
_TIMES = 5
_Wrong = Callable[[Client], bool]


@dataclass(frozen=True, slots=True)
class Question:
    """User agents of a list that are of one kind, and when a client is taken for something else."""

    name: str
    agents: frozenset[str]
    is_wrong: _Wrong


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="checkouts of lists")
    options.add_argument("--show", type=int, default=0, help="print so many wrong ones of each first half")
    arguments = options.parse_args()
    questions = [question for folder in arguments.folders for question in _questions(folder)]
    if not questions:
        sys.exit("None of the folders has a list.")
    print(f"{'':52} {'of':>7} {'wrong':>6}   first half   second half")
    for question in questions:
        _print_answer(question, arguments.show)
    for folder in arguments.folders:
        if fixtures := _fixtures(folder):
            _print_times(sorted({agent["user_agent"] for agent in fixtures}))


def _questions(folder: Path) -> Iterator[Question]:
    fixtures = _fixtures(folder)
    if fixtures:
        yield from _of_device_detector(fixtures)
    if (crawlers := folder / "fixtures/crawlers.yml").exists():
        robots = _named(crawlers)
        yield Question("isbot: robots that count", robots, _counts)
        yield Question("isbot: the same but plain programs", robots, _is_person)
        yield Question(
            "isbot: browsers that don't count", _named(folder / "fixtures/browsers.yml"), _is_robot
        )
    if (file := folder / "crawler-user-agents.json").exists():
        kept = json.loads(file.read_text(encoding="utf-8"))
        agents = frozenset(agent for entry in kept for agent in entry["instances"])
        yield Question("crawler-user-agents: robots that count", agents, _counts)
        yield Question("crawler-user-agents: the same but plain programs", agents, _is_person)


def _of_device_detector(fixtures: list[dict[str, Any]]) -> Iterator[Question]:
    people = [agent for agent in fixtures if "bot" not in agent]
    browsers = [agent for agent in people if _part(agent, "client", "type") == "browser"]
    ios = [agent for agent in people if _part(agent, "os", "name") in {"iOS", "iPadOS"}]
    android = [agent for agent in people if _part(agent, "os", "name") == "Android"]
    robots = _agents(agent for agent in fixtures if "bot" in agent)
    yield Question("device-detector: robots taken for people", robots, _is_person)
    yield Question("device-detector: people's browsers that don't count", _agents(browsers), _is_robot)
    yield Question("device-detector: all that are no robots, the same", _agents(people), _is_robot)
    yield Question("device-detector: iOS taken for a desktop", _agents(ios), _is_on_desktop)
    yield Question("device-detector: Android taken for a desktop", _agents(android), _is_on_desktop)


def _fixtures(folder: Path) -> list[dict[str, Any]]:
    files = sorted((folder / "Tests/fixtures").glob("*.yml"))
    return [agent for file in files for agent in _yaml(file)]


def _named(file: Path) -> frozenset[str]:
    return frozenset(agent for agents in _yaml(file).values() for agent in agents)


def _yaml(file: Path) -> Any:
    return yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def _part(agent: dict[str, Any], whole: str, name: str) -> Any:
    part = agent.get(whole)
    return part.get(name) if isinstance(part, dict) else None


def _agents(fixtures: Iterable[dict[str, Any]]) -> frozenset[str]:
    return frozenset(agent["user_agent"] for agent in fixtures)


def _counts(client: Client) -> bool:
    return not client.kind.is_automatic


def _is_person(client: Client) -> bool:
    return client.kind in _PEOPLE


def _is_robot(client: Client) -> bool:
    return client.kind.is_automatic


def _is_on_desktop(client: Client) -> bool:
    return client.platform is Platform.DESKTOP


def _print_answer(question: Question, show: int) -> None:
    halves: tuple[list[str], list[str]] = ([], [])
    wrong: tuple[list[str], list[str]] = ([], [])
    for agent in sorted(question.agents):
        half = _half(agent)
        halves[half].append(agent)
        if question.is_wrong(recognize_new(_sent(agent))):
            wrong[half].append(agent)
    parts = "   ".join(f"{len(bad):4} of {len(all_):5}" for bad, all_ in zip(wrong, halves, strict=True))
    print(f"{question.name:52} {len(question.agents):7,} {sum(map(len, wrong)):6}   {parts}")
    for agent in wrong[0][:show]:
        print(f"    {agent}")


def _half(agent: str) -> int:
    return hashlib.sha256(agent.encode()).digest()[0] & 1


def _sent(agent: str) -> bytes:
    return agent.encode()[:LONGEST_USER_AGENT]


def _print_times(agents: list[str]) -> None:
    sent = [*map(_sent, agents)]
    random.Random(1).shuffle(sent)  # noqa: S311 - an order that is the same each time
    rounds = [[_time(agent) for agent in sent] for _ in range(_TIMES)]
    least = [*map(min, zip(*rounds, strict=True))]
    print(f"\nµs of processor time for one of {len(sent):,} user agents, without the cache:")
    for name, times in (("each for the first time", rounds[0]), (f"the least of {_TIMES} times", least)):
        marks = statistics.quantiles(times, n=100)
        print(f"  {name:25} median {marks[49]:5.1f}, 90 % {marks[89]:5.1f}, 99 % {marks[98]:5.1f}")


def _time(agent: bytes) -> float:
    began = time.thread_time_ns()
    recognize_new(agent)
    return (time.thread_time_ns() - began) / 1e3


if __name__ == "__main__":
    main()
