"""The intent filters of an AndroidManifest.xml that let an app open links: which hosts and paths it takes.

Android's documentation of `<intent-filter>` and `<data>`: the attributes of all `<data>` of a filter are put
together, so that each scheme goes with each host and each path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit
from xml.etree import ElementTree

from backend.domain.taps.components import UnreadableFile

_ANDROID = "{http://schemas.android.com/apk/res/android}"
_VIEW = "android.intent.action.VIEW"
_BROWSABLE = "android.intent.category.BROWSABLE"
_NOT_READ = frozenset({"pathAdvancedPattern"})


def _glob(pattern: str, path: str) -> bool:
    """Whether the pattern matches as PatternMatcher does: `.` is any character, `*` repeats the one before.

    It takes as many as it can before what follows, and never goes back.
    """
    at = 0
    steps = [*_steps(pattern)]
    for place, (character, repeats) in enumerate(steps):
        if not repeats:
            if at >= len(path) or character not in {None, path[at]}:
                return False
            at += 1
        elif character is not None:
            while at < len(path) and path[at] == character:
                at += 1
        elif place == len(steps) - 1:
            return True
        else:
            found = path.find(steps[place + 1][0] or "", at)
            if found < 0:
                return False
            at = found
    return at == len(path)


def _steps(pattern: str) -> Iterable[tuple[str | None, bool]]:
    """The characters of a pattern, None for any, and whether each repeats."""
    characters = iter([*pattern, ""])
    character = next(characters)
    while character:
        is_escaped = character == "\\"
        if is_escaped:
            character = next(characters, "")
        meaning = None if character == "." and not is_escaped else character
        following = next(characters, "")
        repeats = following == "*"
        yield meaning, repeats
        character = next(characters, "") if repeats else following


_PATHS: dict[str, Callable[[str, str], bool]] = {
    "path": lambda pattern, path: path == pattern,
    "pathPrefix": lambda pattern, path: path.startswith(pattern),
    "pathSuffix": lambda pattern, path: path.endswith(pattern),
    "pathPattern": _glob,
}


@dataclass(frozen=True, slots=True)
class IntentFilter:
    """A filter for links: its schemes, hosts, and pairs of a kind of path and its text."""

    schemes: frozenset[str]
    hosts: frozenset[str]
    paths: tuple[tuple[str, str], ...]
    is_verified: bool  # android:autoVerify: only then the app opens links without asking

    def matches(self, url: str) -> bool:
        """Whether the filter takes this address. Without a path, it takes all paths of its hosts."""
        parts = urlsplit(url)
        host, path = parts.hostname or "", parts.path or "/"
        return (
            parts.scheme in self.schemes
            and any(_is_host(pattern, host) for pattern in self.hosts)
            and (not self.paths or any(_PATHS[kind](text, path) for kind, text in self.paths))
        )


def parse_manifest(text: str) -> Sequence[IntentFilter]:
    """The filters for links in an AndroidManifest.xml. Raises UnreadableFile."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise UnreadableFile("a manifest has no DOCTYPE")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - without a DOCTYPE nothing expands
    except ElementTree.ParseError as error:
        raise UnreadableFile(f"it is not XML ({error})") from None
    filters = [
        _intent_filter(intent_filter)
        for intent_filter in root.iter("intent-filter")
        if _opens_links(intent_filter)
    ]
    return [intent_filter for intent_filter in filters if intent_filter.schemes & {"http", "https"}]


def _opens_links(element: ElementTree.Element) -> bool:
    actions = {action.get(f"{_ANDROID}name") for action in element.iter("action")}
    categories = {category.get(f"{_ANDROID}name") for category in element.iter("category")}
    return _VIEW in actions and _BROWSABLE in categories


def _intent_filter(element: ElementTree.Element) -> IntentFilter:
    if element.find("uri-relative-filter-group") is not None:
        raise UnreadableFile("<uri-relative-filter-group> is not read here")
    attributes = [
        (name.removeprefix(_ANDROID), value)
        for data in element.findall("data")
        for name, value in data.attrib.items()
    ]
    if unread := _NOT_READ.intersection(name for name, _ in attributes):
        raise UnreadableFile(f"android:{min(unread)} is not read here")
    return IntentFilter(
        schemes=frozenset(value for name, value in attributes if name == "scheme"),
        hosts=frozenset(value for name, value in attributes if name == "host"),
        paths=tuple((name, value) for name, value in attributes if name in _PATHS),
        is_verified=element.get(f"{_ANDROID}autoVerify") == "true",
    )


def _is_host(pattern: str, host: str) -> bool:
    """Whether the host is this one; `*.shop.com` stands for its subdomains."""
    return host.endswith(pattern[1:]) if pattern.startswith("*") else host == pattern
