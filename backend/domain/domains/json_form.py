"""The JSON form of a domain's settings."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from backend.domain.domains.settings import DomainSettings, Texts


def domain_json(name: str, settings: DomainSettings) -> dict[str, Any]:
    """A domain with all of its settings; null for what is not set."""
    return {
        "name": name,
        "root_url": settings.root_url,
        "not_found_url": settings.not_found_url,
        "brand": asdict(settings.brand),
        "texts": texts_json(settings.texts),
        "robots_txt": settings.robots_txt,
    }


def texts_json(texts: Texts) -> dict[str, Any]:
    """The texts of pages, by language and page."""
    return {
        language.value: {page.value: asdict(text) for page, text in pages.items()}
        for language, pages in texts.items()
    }
