"""assetlinks.json: which app a domain names, and which of its links the app opens, as Android reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.domain.accounts.apps import AndroidApp
from backend.domain.taps.components import (
    Component,
    UnreadableFile,
    first_match,
    list_of,
    object_of,
    parse_component,
)
from backend.domain.taps.path_rules import PathRules

_HANDLE_ALL_URLS = "delegate_permission/common.handle_all_urls"
# The names of what Android 15 and newer read for the paths.
_EXTENSIONS, _COMPONENTS = "relation_extensions", "dynamic_app_link_components"


@dataclass(frozen=True, slots=True)
class AppStatement:
    """What the file says about an app. Without `components`, all paths of its manifest are the app's."""

    package: str
    fingerprints: frozenset[str]
    components: tuple[Component, ...] = ()

    def opens(self, url: str) -> bool:
        """Whether the dynamic rules leave this address to the app: also what none of several rules matches
        is not opened (UriRelativeFilterGroup of Android 15)."""
        if not self.components:
            return True
        found = first_match(self.components, url)
        return found is not None and not found.is_excluding


@dataclass(frozen=True, slots=True)
class GoogleFile:
    """The statements of a file that let apps open links."""

    statements: tuple[AppStatement, ...]

    def about(self, app: AndroidApp) -> AppStatement | None:
        """The statement that names this app with one of its certificates; None if Android does not verify it.

        Of an app whose certificates are not known, any certificate counts.
        """
        for statement in self.statements:
            has_certificate = statement.fingerprints and (
                not app.fingerprints or not statement.fingerprints.isdisjoint(app.fingerprints)
            )
            if statement.package == app.package and has_certificate:
                return statement
        return None


def google_file_content(app: AndroidApp, rules: PathRules) -> Any:
    """The JSON of assetlinks.json. Android 14 and older ignore the rules, and follow the app's manifest."""
    target = {
        "namespace": "android_app",
        "package_name": app.package,
        "sha256_cert_fingerprints": list(app.fingerprints),
    }
    return [
        {
            "relation": [_HANDLE_ALL_URLS],
            "target": target,
            _EXTENSIONS: {_HANDLE_ALL_URLS: {_COMPONENTS: rules.components}},
        }
    ]


def parse_google_file(content: Any) -> GoogleFile:
    """Read the file's JSON. Raises UnreadableFile."""
    statements = [object_of(statement, "a statement") for statement in list_of(content, "the file")]
    return GoogleFile(tuple(_statement(statement) for statement in statements if _is_about_links(statement)))


def _is_about_links(statement: Mapping[str, Any]) -> bool:
    target = object_of(statement.get("target"), "target")
    relations = list_of(statement.get("relation"), "relation")
    return _HANDLE_ALL_URLS in relations and target.get("namespace") == "android_app"


def _statement(statement: Mapping[str, Any]) -> AppStatement:
    target = statement["target"]
    fingerprints = list_of(target.get("sha256_cert_fingerprints"), "sha256_cert_fingerprints")
    if not all(isinstance(text, str) for text in (target.get("package_name"), *fingerprints)):
        raise UnreadableFile("`package_name` and `sha256_cert_fingerprints` must be texts")
    extensions = object_of(statement.get(_EXTENSIONS, {}), _EXTENSIONS)
    extension = object_of(extensions.get(_HANDLE_ALL_URLS, {}), _HANDLE_ALL_URLS)
    components = list_of(extension.get(_COMPONENTS, []), _COMPONENTS)
    return AppStatement(
        target["package_name"],
        frozenset(text.upper() for text in fingerprints),
        tuple(map(parse_component, components)),
    )
