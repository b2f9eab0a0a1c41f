"""Compares the mobile apps that imported links name with the domain's apps."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend.domain.accounts.apps import Apps
from backend.domain.ids import OrgId


@dataclass(slots=True)
class NamedApps:
    """The apps that the imported links of a domain open."""

    android: set[str] = field(default_factory=set)
    ios: set[str] = field(default_factory=set)
    app_store: set[str] = field(default_factory=set)

    def missing(self, domain: str, org_id: OrgId, apps: Apps) -> str | None:
        """A sentence on apps that the domain lacks, with the command to set them; None if it lacks none.

        `apps` are the domain's apps.
        """
        lacking = [
            f"{kind} {name}"
            for kind, named, registered in (
                ("Android app", self.android, apps.android and apps.android.package),
                ("iOS app", self.ios, apps.ios and apps.ios.bundle_id),
                ("App Store page", self.app_store, apps.ios and apps.ios.app_store_id),
            )
            for name in sorted(named - {registered})
        ]
        if not lacking:
            return None
        return (
            f"Links on {domain} open apps that are not set for it: {', '.join(lacking)}. "
            f"A domain has one app for each system; set them in one command: {self._command(domain, org_id)}"
        )

    def _command(self, domain: str, org_id: OrgId) -> str:
        """The `waylink app set` command for all apps of the domain at once: it replaces earlier ones."""
        ios = f" --ios-team-id TEAM --ios-bundle-id {min(self.ios)}" if self.ios else ""
        store = f" --app-store-id {min(self.app_store)}" if self.ios and self.app_store else ""
        android = (
            f" --android-package {min(self.android)} --android-fingerprint SHA256" if self.android else ""
        )
        return f"waylink app set {domain} --org {org_id}{ios}{store}{android}"
