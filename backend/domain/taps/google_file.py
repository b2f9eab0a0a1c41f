"""assetlinks.json, as Android reads it: which app a domain names, and which of its links the app opens."""

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

HANDLE_ALL_URLS = "delegate_permission/common.handle_all_urls"
# The names of what Android 15 and newer read for the paths.
EXTENSIONS, COMPONENTS = "relation_extensions", "dynamic_app_link_components"


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


def parse_google_file(content: Any) -> GoogleFile:
    """Read the file's JSON. Raises UnreadableFile."""
    statements = [object_of(each, "a statement") for each in list_of(content, "the file")]
    return GoogleFile(tuple(_statement(each) for each in statements if _is_about_links(each)))


def _is_about_links(statement: Mapping[str, Any]) -> bool:
    target = object_of(statement.get("target"), "target")
    relations = list_of(statement.get("relation"), "relation")
    return HANDLE_ALL_URLS in relations and target.get("namespace") == "android_app"


def _statement(statement: Mapping[str, Any]) -> AppStatement:
    target = statement["target"]
    fingerprints = list_of(target.get("sha256_cert_fingerprints"), "sha256_cert_fingerprints")
    if not all(isinstance(text, str) for text in (target.get("package_name"), *fingerprints)):
        raise UnreadableFile("`package_name` and `sha256_cert_fingerprints` must be texts")
    extensions = object_of(statement.get(EXTENSIONS, {}), EXTENSIONS)
    extension = object_of(extensions.get(HANDLE_ALL_URLS, {}), HANDLE_ALL_URLS)
    components = list_of(extension.get(COMPONENTS, []), COMPONENTS)
    return AppStatement(
        target["package_name"],
        frozenset(text.upper() for text in fingerprints),
        tuple(map(parse_component, components)),
    )
