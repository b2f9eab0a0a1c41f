"""The texts of mails in the languages that there are: one file each in languages/."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib.resources import files

from backend.domain.analytics.filter_words import FilterWording
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Field
from backend.domain.annotations.link_change import FIELD_WORDS, ChangeWording
from backend.domain.fields.filled_text import fill
from backend.domain.links.destinations.destination import OUTCOME_NAMES
from backend.domain.mail.language import Language

Section = Mapping[str, str]


@cache
def sections_in(language: Language) -> Mapping[str, Section]:
    """All texts in a language, by section and name. English has some that the domain has too."""
    text = (files("backend.mail") / "languages" / f"{language.value}.toml").read_text("utf-8")
    english: dict[str, Section] = {
        "measures": {measure.value: measure.label for measure in Measure},
        "fields": {field.value: field.label for field in Field},
        "outcomes": OUTCOME_NAMES,
        "filters": asdict(FilterWording()),
        "link_changes": asdict(ChangeWording()),
        "link_fields": FIELD_WORDS,
    }
    return {**english, **tomllib.loads(text)}


def text_in(language: Language, section: str, name: str, **values: str) -> str:
    """A text with these values in the place of its words in braces."""
    return fill(sections_in(language)[section][name], values)
