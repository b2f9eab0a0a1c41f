"""Where a visit came from, as the signals in its address say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from backend.domain.clicks.ids import ClickPlace
from backend.domain.links.destinations.web_address import (
    CLICK_ID_PARAMETER,
    LINK_ID_PARAMETER,
    VARIANT_PARAMETER,
)
from backend.domain.links.links import UTM_FIELDS, Link
from backend.domain.links.rules.rule_json import variant_names
from backend.domain.visitors.attribution import Touch

# What redirects append to a destination.
LINK_SIGNAL, VARIANT_SIGNAL, CLICK_SIGNAL = LINK_ID_PARAMETER, VARIANT_PARAMETER, CLICK_ID_PARAMETER
CLICK_ID_SIGNALS = ("fbclid", "gclid", "gbraid", "wbraid", "ttclid")
# Contract, SDK rule 3; the variant and the id of the click itself stand beside it.
SIGNALS = (LINK_SIGNAL, *UTM_FIELDS, *CLICK_ID_SIGNALS, VARIANT_SIGNAL, CLICK_SIGNAL)

Signals = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a visit came from, as its attribution check says.

    `link` is set if a link was found, `click` if the visit also brought the id of a click on that link.
    """

    link: Link | None = None
    utm: dict[str, str] = field(default_factory=dict)
    click_ids: dict[str, str] = field(default_factory=dict)
    variant: str | None = None
    click: ClickPlace | None = None

    @property
    def is_organic(self) -> bool:
        """Whether the visit came from no known link, campaign or ad."""
        return not (self.link or self.utm or self.click_ids)

    def context(self) -> dict[str, Any] | None:
        """The attribution context (contract, "Web SDK attribution context"); None for an organic visit."""
        if self.is_organic:
            return None
        return {
            LINK_SIGNAL: self.link.id if self.link else None,
            **{name: self.utm.get(name) for name in UTM_FIELDS},
            "custom_data": self.link.custom_data if self.link else None,
        }

    def touch(self, at: datetime, received_at: datetime | None = None) -> Touch | None:
        """The touch to store with the device; None for an organic visit."""
        if self.is_organic:
            return None
        link_id = self.link.id if self.link else None
        place = (self.click.at, self.click.mark) if self.click else ()
        return Touch(at, link_id, self.utm, self.click_ids, received_at, self.variant, *place)

    def named_touch(self, received_at: datetime) -> Touch | None:
        """The visit that followed the click, of which a server told by its id; None without a click."""
        touch = self.touch(self.click.at, received_at) if self.click else None
        return replace(touch, is_named=True) if touch else None


def source_of(signals: Signals, link: Link | None, click: ClickPlace | None = None) -> Source:
    """Where a visit came from, given the signals in its address and the link that they name (or None).

    UTM values in the address replace those of the link. A variant counts if the link's rules have one of that
    name: an address may say anything. `click` is the click on the link that they name, if they name one.
    """
    named = {name: signals[name] for name in UTM_FIELDS if name in signals}
    click_ids = {name: signals[name] for name in CLICK_ID_SIGNALS if name in signals}
    variant = signals.get(VARIANT_SIGNAL)
    is_known = link is not None and variant in variant_names(link.rules)
    utm = (link.utm if link else {}) | named
    return Source(link, utm, click_ids, variant if is_known else None, click if link else None)
