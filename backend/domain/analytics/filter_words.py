"""What a filter leaves, in words."""

from __future__ import annotations

from collections.abc import Callable, Collection

from backend.domain.analytics.query import Filter, Not, Prefix

# Of one filter; further values are counted.
_MOST_NAMED = 10
ValueName = Callable[[str | None], str]


def filter_words(chosen: Filter, name: ValueName) -> str:
    """What is left, such as "spring or summer", by the names that people know its values by."""
    match chosen:
        case Prefix(text):
            return f"begins with {text}"
        case Not(values):
            return f"not {_listed(values, name)}"
    return _listed(chosen, name)


def _listed(values: Collection[str | None], name: ValueName) -> str:
    names = sorted(name(value) for value in values)
    if len(names) > _MOST_NAMED:
        names = [*names[:_MOST_NAMED], f"{len(names) - _MOST_NAMED} more"]
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
