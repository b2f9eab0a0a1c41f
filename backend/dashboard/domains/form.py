"""The form of a domain's settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.dashboard.frame.form import form
from backend.domain.domains.input import BRAND_FIELDS, DOMAIN_FIELDS
from backend.domain.domains.settings import Brand, DomainSettings, OwnText, PageLanguage
from backend.domain.errors import FieldError, collect_errors

# Names of fields are paths, such as brand.color and texts.de.not_found.title.
FormValues = Mapping[str, str]
_PLAIN = ("root_url", "not_found_url", "robots_txt")
_FLAGS = ("forwards_path", "ignores_case")
_PARTS = ("title", "text")


def values_of(settings: DomainSettings) -> FormValues:
    """The settings as texts of the form's fields."""
    values = {name: getattr(settings, name) or "" for name in _PLAIN}
    values |= {name: "true" if getattr(settings, name) else "" for name in _FLAGS}
    values |= {f"brand.{name}": getattr(settings.brand, name) or "" for name in BRAND_FIELDS}
    for language in PageLanguage:
        for page in OwnText:
            own = settings.texts.get(language, {}).get(page)
            values |= {_name(language, page, part): getattr(own, part, "") for part in _PARTS}
    return values


def sent_values() -> FormValues:
    """What the current request's form has in the fields."""
    return {name: form().get(name, "").strip() for name in values_of(DomainSettings())}


def parse(values: FormValues) -> tuple[dict[str, Any], dict[str, str]]:
    """The fields, parsed by DOMAIN_FIELDS, and the rules that others break, by name. An empty one is None."""
    body: dict[str, Any] = {name: values[name] for name in _PLAIN}
    body["brand"] = {name: values[f"brand.{name}"] for name in BRAND_FIELDS}
    body["texts"] = {language.value: _texts(values, language) for language in PageLanguage}
    fields: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, value in body.items():
        with collect_errors(errors):
            fields[name] = DOMAIN_FIELDS[name].parse(name, value) if value else None
    fields |= {name: values[name] == "true" for name in _FLAGS}
    return fields, {wrong.field: wrong.rule for error in errors for wrong in error.every}


def shown_settings(fields: Mapping[str, Any], stored: DomainSettings) -> DomainSettings:
    """The settings that a picture shows: the form's, and the stored ones for fields that break a rule."""
    return DomainSettings(
        brand=Brand(**fields["brand"]) if "brand" in fields else stored.brand,
        texts=fields.get("texts", stored.texts),
    )


def _texts(values: FormValues, language: PageLanguage) -> dict[str, dict[str, str]]:
    """The texts of the pages that have any text, without empty parts."""
    every = {
        page.value: {part: text for part in _PARTS if (text := values[_name(language, page, part)])}
        for page in OwnText
    }
    return {page: texts for page, texts in every.items() if texts}


def _name(language: PageLanguage, page: OwnText, part: str) -> str:
    return f"texts.{language.value}.{page.value}.{part}"
