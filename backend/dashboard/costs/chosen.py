"""Which costs a page lists, as its address says: of a campaign, in some days, in a currency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import urlencode

from quart import request, url_for

from backend.dashboard.analytics.answers import Chip
from backend.dashboard.analytics.view import LONGEST_FILTER, read_day
from backend.storage.costs.costs import CostFilter

_FIRST, _LAST, _CAMPAIGN, _CURRENCY = "from", "to", "campaign", "currency"


@dataclass(frozen=True, slots=True)
class CostChoice:
    """The arguments of an address that leave some costs. The last day is included."""

    arguments: Mapping[str, str]

    @classmethod
    def of_request(cls) -> CostChoice:
        """The choice of the request. Days that are none are left out, as in all addresses of views."""
        given = {
            name: text
            for name in (_CAMPAIGN, _FIRST, _LAST, _CURRENCY)
            if (text := request.args.get(name, "").strip()[:LONGEST_FILTER])
        }
        problems: dict[str, str] = {}
        for name in (_FIRST, _LAST):
            if name in given and read_day(name, given[name], problems) is None:
                del given[name]
        return cls(given)

    @property
    def filter(self) -> CostFilter:
        """What is asked of the database."""
        return CostFilter(
            self._day(_FIRST),
            last + timedelta(days=1) if (last := self._day(_LAST)) else None,
            self.arguments.get(_CAMPAIGN),
            self.arguments.get(_CURRENCY),
        )

    @property
    def chips(self) -> list[Chip]:
        """What leaves costs out, each with the address of the list without it."""
        chips = [
            Chip(label, self.arguments[name], self.address(url_for("dashboard.costs"), **{name: None}))
            for name, label in ((_CAMPAIGN, "Campaign"), (_CURRENCY, "Currency"))
            if name in self.arguments
        ]
        if days := [self.arguments[name] for name in (_FIRST, _LAST) if name in self.arguments]:
            without: dict[str, str | None] = {_FIRST: None, _LAST: None}
            words = " to ".join(dict.fromkeys(days))
            if len(days) == 1:
                words = f"{'from' if _FIRST in self.arguments else 'until'} {words}"
            chips.append(Chip("Days", words, self.address(url_for("dashboard.costs"), **without)))
        return chips

    def address(self, path: str, **changes: str | None) -> str:
        """The path with this choice; arguments that are changed to None are left out."""
        changed = {name: text for name, text in {**self.arguments, **changes}.items() if text is not None}
        return f"{path}?{urlencode(changed)}" if changed else path

    def _day(self, name: str) -> date | None:
        return date.fromisoformat(self.arguments[name]) if name in self.arguments else None
