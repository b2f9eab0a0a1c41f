"""The rules for paths in association files. Apple's and Google's files have the same form of them.

Apple's documentation of `applinks.Details.Components`, and Google's of `dynamic_app_link_components`: the
first component that matches decides, also where it excludes. All parts that a component names must match.
How iOS reads them beyond that is in `apple_components`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from backend.domain.taps.wildcards import matches

ComponentJson = Mapping[str, Any]
_ANYTHING = "*"


class UnreadableFile(ValueError):
    """An association file is not of the published form. The message says where."""


@dataclass(frozen=True, slots=True)
class Component:
    """One rule. `items` are patterns for the values of query parameters, `query` is one for all of it."""

    path: str = _ANYTHING
    query: str = _ANYTHING
    items: Mapping[str, str] = field(default_factory=dict)
    fragment: str = _ANYTHING
    is_excluding: bool = False
    is_case_sensitive: bool = True

    def matches(self, url: SplitResult) -> bool:
        """Whether all parts of this address match."""
        return (
            self._fits(self.path, url.path or "/")
            and self._fits(self.query, url.query)
            and self._fits(self.fragment, url.fragment)
            and all(self._has(url.query, name, pattern) for name, pattern in self.items.items())
        )

    def _has(self, query: str, name: str, pattern: str) -> bool:
        """Whether each parameter of this name matches. One that is not there has the empty value."""
        values = [value for parameter, value in parse_qsl(query, keep_blank_values=True) if parameter == name]
        return all(self._fits(pattern, value) for value in values or [""])

    def _fits(self, pattern: str, text: str) -> bool:
        if not self.is_case_sensitive:
            pattern, text = pattern.lower(), text.lower()
        return matches(pattern, text)


def parse_component(component: Any) -> Component:
    """Read a component. Raises UnreadableFile."""
    if not isinstance(component, Mapping):
        raise UnreadableFile("each of `components` must be an object")
    query = component.get("?", _ANYTHING)
    items = query if isinstance(query, Mapping) else {}
    parts = [component.get("/", _ANYTHING), component.get("#", _ANYTHING), *items.values()]
    if not all(isinstance(part, str) for part in (*parts, *([] if items else [query]))):
        raise UnreadableFile('"/", "?" and "#" of a component must be texts')
    if any("$(" in part for part in parts):
        raise UnreadableFile("substitution variables, such as $(lang), are not read here")
    return Component(
        path=parts[0],
        query=_ANYTHING if isinstance(query, Mapping) else query,
        items=dict(items),
        fragment=parts[1],
        is_excluding=component.get("exclude") is True,
        is_case_sensitive=component.get("caseSensitive", True) is not False,
    )


def first_match(components: Iterable[Component], url: str) -> Component | None:
    """The first of the components that matches the address, which decides; None if none matches."""
    parts = urlsplit(url)
    return next((component for component in components if component.matches(parts)), None)


def list_of(value: Any, name: str) -> Sequence[Any]:
    """The value, which must be a list. Raises UnreadableFile, which names it."""
    if not isinstance(value, list):
        raise UnreadableFile(f"`{name}` must be a list")
    return value


def object_of(value: Any, name: str) -> Mapping[str, Any]:
    """The value, which must be an object. Raises UnreadableFile, which names it."""
    if not isinstance(value, dict):
        raise UnreadableFile(f"`{name}` must be an object")
    return value
