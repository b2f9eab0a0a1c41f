"""What a filter leaves, in words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial

from backend.domain.analytics.answer import NamedLink
from backend.domain.analytics.query import FieldFilters, Filter, Not, Prefix, QueryField
from backend.domain.fields.filled_text import fill
from backend.domain.ids import LinkId

# Of one filter; further values are counted.
_MOST_NAMED = 10
ValueName = Callable[[str | None], str]


@dataclass(frozen=True, slots=True)
class FilterWording:
    """How a language says what a filter leaves, with words in braces that are filled in."""

    begins: str = "begins with {text}"
    without: str = "not {values}"
    either: str = "{values} or {last}"
    more: str = "{count} more"


_ENGLISH = FilterWording()


@dataclass(frozen=True, slots=True)
class FilterLanguage:
    """How people are told filters: what a field is called, a value of it, and the words between values.

    A value may be the id of a link, which these links have the names of.
    """

    label: Callable[[QueryField], str]
    name: Callable[[QueryField, str | None, Mapping[LinkId, NamedLink]], str]
    wording: FilterWording = _ENGLISH

    def pairs(self, filters: FieldFilters, links: Mapping[LinkId, NamedLink]) -> list[tuple[str, str]]:
        """What is filtered and what is left, such as ("Campaign", "spring or summer")."""
        return [
            (self.label(by), filter_words(chosen, partial(self._name, links, by), self.wording))
            for by, chosen in filters.items()
        ]

    def _name(self, links: Mapping[LinkId, NamedLink], by: QueryField, value: str | None) -> str:
        return self.name(by, value, links)


def filter_words(chosen: Filter, name: ValueName, wording: FilterWording = _ENGLISH) -> str:
    """What is left, such as "spring or summer", by the names that people know its values by."""
    match chosen:
        case Prefix(text):
            return fill(wording.begins, {"text": text})
        case Not(values):
            return fill(wording.without, {"values": _listed(values, name, wording)})
    return _listed(chosen, name, wording)


def _listed(values: Collection[str | None], name: ValueName, wording: FilterWording) -> str:
    names = sorted(name(value) for value in values)
    if len(names) > _MOST_NAMED:
        names = [*names[:_MOST_NAMED], fill(wording.more, {"count": str(len(names) - _MOST_NAMED)})]
    *others, last = names
    return fill(wording.either, {"values": ", ".join(others), "last": last}) if others else last
