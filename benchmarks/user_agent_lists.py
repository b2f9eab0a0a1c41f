"""Public lists of user agents, read from checkouts of their repositories, and what each says of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

_PHONES = {"iOS": "ios", "iPadOS": "ios", "Android": "android"}
_DESKTOPS = frozenset({"Windows", "Mac OS X", "macOS", "Mac", "OS X", "Linux", "Ubuntu", "Chrome OS"})


class Agent(NamedTuple):
    """What a list says of a user agent. None where it says nothing."""

    text: str
    is_robot: bool | None = None
    is_browser: bool = False
    platform: str | None = None  # as `Platform` names it


def agents_of(folder: Path) -> tuple[str, list[Agent]] | None:
    """The name of the list that is checked out here, and all that it has; None if it is none of the known."""
    for name, (file, read) in _LISTS.items():
        if (folder / file).exists():
            return name, [*dict.fromkeys(agent for agent in read(folder) if agent.text)]
    return None


def _device_detector(folder: Path) -> Iterator[Agent]:
    for file in sorted((folder / "Tests/fixtures").glob("*.yml")):
        for entry in _yaml(file):
            client = entry.get("client")
            is_browser = isinstance(client, dict) and client.get("type") == "browser"
            is_robot = "bot" in entry
            yield Agent(
                entry["user_agent"],
                is_robot,
                is_browser and not is_robot,
                platform=None if is_robot else _platform(entry.get("os")),
            )


def _isbot(folder: Path) -> Iterator[Agent]:
    for name, is_robot in (("crawlers", True), ("browsers", False)):
        for texts in _yaml(folder / f"fixtures/{name}.yml").values():
            yield from (Agent(text, is_robot, not is_robot) for text in texts)


def _crawler_user_agents(folder: Path) -> Iterator[Agent]:
    for entry in _json(folder / "crawler-user-agents.json"):
        yield from (Agent(text, is_robot=True) for text in entry["instances"])


def _crawler_detect(folder: Path) -> Iterator[Agent]:
    lines = (folder / "tests/data/user_agent/crawlers.txt").read_text(encoding="utf-8").splitlines()
    yield from (Agent(line, is_robot=True) for line in lines)


def _uap_core(folder: Path) -> Iterator[Agent]:
    for file in ("tests/test_os.yaml", "test_resources/additional_os_tests.yaml"):
        for entry in _yaml(folder / file)["test_cases"]:
            yield Agent(entry["user_agent_string"], platform=_platform({"name": entry["family"]}))
    for entry in _yaml(folder / "tests/test_device.yaml")["test_cases"]:
        yield Agent(entry["user_agent_string"], is_robot=entry["family"] == "Spider")


def _ua_parser_js(folder: Path) -> Iterator[Agent]:
    data = folder / "test/data/ua"
    for file in sorted(data.glob("os/*.json")):
        yield from (Agent(entry["ua"], platform=_platform(entry["expect"])) for entry in _json(file))
    for name in ("crawler", "fetcher"):
        yield from (Agent(entry["ua"], is_robot=True) for entry in _json(data / f"extension/{name}.json"))
    yield from (Agent(entry["ua"], False, True) for entry in _json(data / "browser/browser-all.json"))


def _which_browser(folder: Path) -> Iterator[Agent]:
    for file in sorted((folder / "tests/data").glob("*/*.yaml")):
        if file.name == "disabled.yaml":
            continue
        for entry in _yaml(file):
            headers, result = entry["headers"], entry["result"]
            if isinstance(headers, str) and headers.startswith("User-Agent: "):
                is_robot = result.get("device", {}).get("type") == "bot"
                is_browser = result.get("browser", {}).get("type") == "browser"
                text = headers.removeprefix("User-Agent: ")
                yield Agent(text, is_robot, is_browser, platform=_platform(result.get("os")))


def _woothee(folder: Path) -> Iterator[Agent]:
    platforms = {"smartphone_android": "android", "smartphone_ios": "ios", "pc_windows": "desktop"}
    for file in sorted((folder / "testsets").glob("*.yaml")):
        for entry in _yaml(file):
            is_robot = entry["category"] == "crawler"
            is_browser = entry["category"] in {"pc", "smartphone", "mobilephone"}
            yield Agent(entry["target"], is_robot, is_browser, platform=platforms.get(file.stem))


def _mobile_detect(folder: Path) -> Iterator[Agent]:
    for entry in _json(folder / "tests/ualist.json")["user_agents"]:
        yield Agent(entry["user_agent"], is_robot=False)


def _opawg(folder: Path) -> Iterator[Agent]:
    platforms = {"ios": "ios", "android": "android", "macos": "desktop", "windows": "desktop"}
    for entry in _json(folder / "src/user-agents.json"):
        is_robot = True if entry.get("bot") else None
        platform = platforms.get(entry.get("os", ""))
        yield from (Agent(text, is_robot, platform=platform) for text in entry.get("examples", ()))


_LISTS: Mapping[str, tuple[str, Callable[[Path], Iterable[Agent]]]] = {
    "device-detector": ("Tests/fixtures/bots.yml", _device_detector),
    "isbot": ("fixtures/crawlers.yml", _isbot),
    "crawler-user-agents": ("crawler-user-agents.json", _crawler_user_agents),
    "CrawlerDetect": ("tests/data/user_agent/crawlers.txt", _crawler_detect),
    "uap-core": ("tests/test_device.yaml", _uap_core),
    "ua-parser-js": ("test/data/ua/browser/browser-all.json", _ua_parser_js),
    "WhichBrowser": ("tests/data/bots/generic.yaml", _which_browser),
    "woothee": ("testsets/smartphone_android.yaml", _woothee),
    "Mobile-Detect": ("tests/ualist.json", _mobile_detect),
    "opawg": ("src/user-agents.json", _opawg),
}


def _platform(system: Any) -> str | None:
    """The platform of a system that a list names; None if it is no usual one."""
    name = system.get("name") if isinstance(system, dict) else None
    return "desktop" if name in _DESKTOPS else _PHONES.get(name or "")


def _yaml(file: Path) -> Any:
    return yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def _json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))
