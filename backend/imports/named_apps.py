"""The mobile apps that another service's links name, held against those that a domain has here."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend.domain.apps import Apps


@dataclass(slots=True)
class NamedApps:
    """The apps that the links of a domain open."""

    android: set[str] = field(default_factory=set)
    ios: set[str] = field(default_factory=set)
    app_store: set[str] = field(default_factory=set)

    def missing(self, domain: str, apps: Apps) -> list[str]:
        """Sentences that say what `waylink app set` has to be told for this domain, given its apps."""
        android = {apps.android.package} if apps.android else set()
        ios = {apps.ios.bundle_id} if apps.ios else set()
        store = {apps.ios.app_store_id} if apps.ios else set()
        return [
            f"Links on {domain} open the {what} {', '.join(sorted(wanted - have))}, which is not set "
            f"for the domain: waylink app set {domain} {option}"
            for what, wanted, have, option in (
                ("Android app", self.android, android, "--android-package"),
                ("iOS app", self.ios, ios, "--ios-bundle-id"),
                ("App Store page", self.app_store, store, "--app-store-id"),
            )
            if wanted - have
        ]
