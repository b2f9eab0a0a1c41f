"""The JSON form of a domain's settings, and of its orphan visits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from backend.domain.domains.claims import DomainClaim
from backend.domain.domains.orphans import NotKept, Orphan
from backend.domain.domains.settings import NO_SETTINGS, DomainSettings, Texts
from backend.domain.domains.setup import DomainSetup

_INSTANT = "%Y-%m-%dT%H:%M:%SZ"


def domain_json(name: str, settings: DomainSettings) -> dict[str, Any]:
    """A domain with all of its settings; null for what is not set."""
    return {
        "name": name,
        "root_url": settings.root_url,
        "not_found_url": settings.not_found_url,
        "brand": asdict(settings.brand),
        "texts": texts_json(settings.texts),
        "robots_txt": settings.robots_txt,
        "forwards_path": settings.forwards_path,
        "ignores_case": settings.ignores_case,
    }


def own_domain_json(
    name: str, settings: DomainSettings = NO_SETTINGS, claim: DomainClaim | None = None
) -> dict[str, Any]:
    """A domain with all of its settings, or a claim, with the record that proves it."""
    return {
        **domain_json(name, settings),
        "is_proved": claim is None,
        "proof": asdict(claim.record) if claim else None,
    }


def setup_json(setup: DomainSetup) -> dict[str, Any]:
    """How far the setup of a domain has come, with the records to enter."""
    return {
        "name": setup.name,
        "state": setup.report.state.value,
        "checked_at": setup.at.strftime(_INSTANT) if setup.at else None,
        "proof": asdict(setup.claim.record) if setup.claim else None,
        "records": [asdict(record) for record in setup.plan.records],
        "steps": [
            {
                "step": step.step.value,
                "state": step.state.value,
                "findings": [
                    {"severity": found.severity.value, "message": found.message, "advice": found.advice}
                    for found in step.findings
                ],
            }
            for step in setup.report.steps
        ],
    }


def texts_json(texts: Texts) -> dict[str, Any]:
    """The texts of pages, by language and page."""
    return {
        language.value: {page.value: asdict(text) for page, text in pages.items()}
        for language, pages in texts.items()
    }


def orphan_json(orphan: Orphan, nearest: str | None) -> dict[str, Any]:
    """A path that no link has, with the short URL that is most like it."""
    return {
        "path": orphan.path,
        "visits": orphan.visits,
        "last_at": orphan.last_at.strftime(_INSTANT),
        "referrers": [{"host": host or None, "visits": visits} for host, visits in orphan.hosts],
        "nearest": nearest,
    }


def not_kept_json(not_kept: Mapping[NotKept, int]) -> dict[str, int]:
    """How many visits are not kept, by reason."""
    return {reason.value: not_kept.get(reason, 0) for reason in NotKept}
