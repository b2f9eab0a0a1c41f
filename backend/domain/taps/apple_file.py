"""apple-app-site-association: which links of a domain open which app, as iOS reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.domain.accounts.apps import IosApp
from backend.domain.taps.apple_components import AppleComponent, parse_apple_component
from backend.domain.taps.components import (
    Component,
    ComponentJson,
    UnreadableFile,
    first_match,
    list_of,
    object_of,
)
from backend.domain.taps.path_rules import PathRules


@dataclass(frozen=True, slots=True)
class _Detail:
    app_ids: frozenset[str]
    components: tuple[AppleComponent, ...]


@dataclass(frozen=True, slots=True)
class AppleFile:
    """The `applinks` of a file: its `details` in order."""

    details: tuple[_Detail, ...]

    @property
    def app_ids(self) -> frozenset[str]:
        """All apps that the file names."""
        return frozenset().union(*(detail.app_ids for detail in self.details))

    def decide(self, app_id: str, url: str) -> Component | None:
        """The component that decides whether the app opens this address; None if none matches.

        The details of a file are one list: the first match in it decides, whichever app it is for. None
        also where it is for another app.
        """
        for detail in self.details:
            if found := first_match(detail.components, url):
                return found if app_id in detail.app_ids else None
        return None


def apple_file_content(app: IosApp, rules: PathRules) -> Any:
    """The JSON of apple-app-site-association."""
    return {"applinks": {"details": [{"appIDs": [app.app_id], "components": rules.components}]}}


def parse_apple_file(content: Any) -> AppleFile:
    """Read the file's JSON. Raises UnreadableFile.

    It reads the form since iOS 13 (`appIDs`, `components`), and the older one (`appID`, `paths`).
    """
    applinks = object_of(object_of(content, "the file").get("applinks"), "applinks")
    defaults = object_of(applinks.get("defaults", {}), "defaults")
    details = list_of(applinks.get("details"), "details")
    return AppleFile(tuple(_detail(object_of(detail, "details"), defaults) for detail in details))


def _detail(detail: Mapping[str, Any], of_domain: ComponentJson) -> _Detail:
    app_ids = list_of(detail.get("appIDs", [detail.get("appID")]), "appIDs")
    if not all(isinstance(app_id, str) for app_id in app_ids):
        raise UnreadableFile("`appIDs` must be texts")
    of_app = object_of(detail.get("defaults", {}), "defaults")
    if "components" in detail:
        components = [
            parse_apple_component(component, of_domain, of_app)
            for component in list_of(detail["components"], "components")
        ]
    else:
        components = [*map(_of_path, _texts(detail.get("paths", []), "paths"))]
    return _Detail(frozenset(app_ids), tuple(components))


def _texts(value: Any, name: str) -> Sequence[str]:
    texts = list_of(value, name)
    if not all(isinstance(text, str) for text in texts):
        raise UnreadableFile(f"`{name}` must be texts")
    return texts


def _of_path(path: str) -> AppleComponent:
    """A line of `paths`, where `NOT ` before the pattern excludes."""
    pattern = path.removeprefix("NOT ")
    return AppleComponent(path=pattern, is_excluding=pattern != path)
