"""The rules for paths in Apple's file, as iOS reads them.

Where Apple's documentation is silent, by the answers of its own `swcutil match`, which others have recorded
(blazingly-aasa, `conformance/oracle`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, unquote

from backend.domain.taps.components import Component, ComponentJson, UnreadableFile, parse_component
from backend.domain.taps.wildcards import matches

_WITHOUT_SEGMENT = "/*"


@dataclass(frozen=True, slots=True)
class AppleComponent(Component):
    """A rule of Apple's file. Without `is_percent_encoded`, it is compared with the decoded address."""

    is_percent_encoded: bool = True

    def matches(self, url: SplitResult) -> bool:
        """Whether all parts of this address match."""
        return (
            self._fits_path(self._read(url.path))
            and self._fits(self.query, self._read(url.query))
            and self._fits(self.fragment, self._read(url.fragment))
            and all(self._has(url.query, name, pattern) for name, pattern in self.items.items())
        )

    def _fits_path(self, path: str) -> bool:
        """Slashes at the ends of path and pattern don't count; `/buy/*` takes `/buy`, too."""
        pattern, path = self.path.strip("/"), path.strip("/")
        return self._fits(pattern, path) or (
            pattern.endswith(_WITHOUT_SEGMENT) and self._fits(pattern.removesuffix(_WITHOUT_SEGMENT), path)
        )

    def _has(self, query: str, name: str, pattern: str) -> bool:
        values = [value for parameter, value in self._parameters(query) if matches(name, parameter)]
        return all(self._fits(pattern, value) for value in values or [""])

    def _parameters(self, query: str) -> Iterator[tuple[str, str]]:
        for part in query.split("&"):
            name, _, value = part.partition("=")
            yield self._read(name), self._read(value)

    def _read(self, text: str) -> str:
        return text if self.is_percent_encoded else unquote(text)


def parse_apple_component(component: Any, *defaults: ComponentJson) -> AppleComponent:
    """Read a component; what it does not name, the last of the `defaults` that names it says.

    A query with a value that is no text is ignored. Raises UnreadableFile.
    """
    if not isinstance(component, Mapping):
        raise UnreadableFile("each of `components` must be an object")
    whole: dict[str, Any] = {}
    for part in (*defaults, component):
        whole |= part
    query = whole.get("?")
    if isinstance(query, Mapping) and not all(isinstance(pattern, str) for pattern in query.values()):
        del whole["?"]
    read = parse_component(whole)
    return AppleComponent(
        read.path,
        read.query,
        read.items,
        read.fragment,
        read.is_excluding,
        read.is_case_sensitive,
        whole.get("percentEncoded", True) is not False,
    )
