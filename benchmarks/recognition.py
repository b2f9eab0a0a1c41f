"""What the service takes clients for, on public lists of user agents, and what a new one costs.

`python -m benchmarks.recognition FOLDER ...` reads checkouts of these repositories, and fetches nothing:
matomo-org/device-detector, omrilotan/isbot, monperrus/crawler-user-agents, JayBizzle/Crawler-Detect,
ua-parser/uap-core, faisalman/ua-parser-js, WhichBrowser/Parser-PHP, woothee/woothee,
serbanghita/Mobile-Detect, and opawg/user-agents. It prints how many robots are taken for people, people for
robots, and how many devices for those of another platform: of each list, and of both halves of it, into which
a hash divides the user agents. The first half is there to be looked at by those who add to
`static/user_agents.json`, the second to see whether what they add holds elsewhere.

Then it prints what each user agent of device-detector costs that was not seen before: each for the first
time, in a new order, and the least of several times, which other programs on the machine disturb less.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from backend.domain.web.client import Client, ClientKind, Platform
from backend.redirector.request.recognition import LONGEST_USER_AGENT, recognize_new
from benchmarks.user_agent_lists import Agent, agents_of

_PEOPLE = frozenset({ClientKind.BROWSER, ClientKind.IN_APP_BROWSER})
_TIMES = 20
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
    lists = dict(filter(None, map(agents_of, arguments.folders)))
    if not lists:
        sys.exit("None of the folders has a list.")
    print(f"{'':60} {'of':>7} {'wrong':>6}   first half   second half")
    for name, agents in lists.items():
        for question in _questions(agents):
            _print_answer(name, question, arguments.show)
    if "device-detector" in lists:
        _print_times(sorted({agent.text for agent in lists["device-detector"]}))


def _questions(agents: list[Agent]) -> Iterator[Question]:
    """What can be asked of a list, as far as it has user agents of the kind."""
    for name, is_asked, is_wrong in _QUESTIONS:
        if asked := frozenset(agent.text for agent in agents if is_asked(agent)):
            yield Question(name, asked, is_wrong)


def _counts(client: Client) -> bool:
    return not client.kind.is_automatic


def _is_person(client: Client) -> bool:
    return client.kind in _PEOPLE


def _is_robot(client: Client) -> bool:
    return client.kind.is_automatic


def _is_no(platform: Platform) -> _Wrong:
    return lambda client: client.platform is not platform


_QUESTIONS: tuple[tuple[str, Callable[[Agent], bool | None], _Wrong], ...] = (
    ("robots taken for people", lambda agent: agent.is_robot, _is_person),
    ("robots that count, with plain programs", lambda agent: agent.is_robot, _counts),
    ("people's browsers that don't count", lambda agent: agent.is_browser, _is_robot),
    ("all that are no robots, the same", lambda agent: agent.is_robot is False, _is_robot),
    ("iOS taken for another", lambda agent: agent.platform == "ios", _is_no(Platform.IOS)),
    ("Android taken for another", lambda agent: agent.platform == "android", _is_no(Platform.ANDROID)),
    ("desktops taken for another", lambda agent: agent.platform == "desktop", _is_no(Platform.DESKTOP)),
)


def _print_answer(name: str, question: Question, show: int) -> None:
    halves: tuple[list[str], list[str]] = ([], [])
    wrong: tuple[list[str], list[str]] = ([], [])
    for agent in sorted(question.agents):
        half = _half(agent)
        halves[half].append(agent)
        if question.is_wrong(recognize_new(_sent(agent))):
            wrong[half].append(agent)
    parts = "   ".join(f"{len(bad):4} of {len(all_):5}" for bad, all_ in zip(wrong, halves, strict=True))
    print(f"{name + ': ' + question.name:60} {len(question.agents):7,} {sum(map(len, wrong)):6}   {parts}")
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
