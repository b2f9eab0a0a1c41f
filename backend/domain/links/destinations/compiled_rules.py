"""The rules of a link, compiled: which of its visitors go elsewhere than to its destination.

They are compiled once for each link in memory; deciding then costs a few calls.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import accumulate
from typing import Any

from backend.domain.ids import LinkId
from backend.domain.links.destinations.forwarding import filled_in
from backend.domain.links.destinations.web_address import leading_to
from backend.domain.links.links import Link
from backend.domain.links.rules.conditions import Circumstances, tests_of
from backend.domain.web.addresses import network_of


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Where a rule leads: the link with another destination. `number` is the rule's place, from 0.

    `variant` is the name of the part of a split.
    """

    number: int
    link: Link
    variant: str | None = None

    def filled_in(self, rest: str, query: str) -> Target | None:
        """The target for one visitor, who added this to the short URL; None if it can't be filled in."""
        link = filled_in(self.link, rest, query)
        return replace(self, link=link) if link else None


class CompiledRules:
    """The rules of a link, ready to decide. `splits` says whether they ask for the visitor's share.

    `size` is the number of addresses to which they lead.
    """

    __slots__ = ("_rules", "size", "splits")

    def __init__(self, link: Link) -> None:
        self._rules = [
            (tuple(tests_of(rule["if"])), targets, _bounds(rule["then"]))
            for number, rule in enumerate(link.rules)
            if (targets := _targets(link, number, rule["then"]))
        ]
        self.splits = any(bounds for _, _, bounds in self._rules)
        self.size = sum(len(targets) for _, targets, _ in self._rules)

    def target(self, visit: Circumstances) -> Target | None:
        """Where the first rule leads that fits; None if none does, so that the link decides itself."""
        for tests, targets, bounds in self._rules:
            for test in tests:
                if not test(visit):
                    break
            else:
                return targets[bisect_right(bounds, visit.share)] if bounds else targets[0]
        return None


def share_of(key: bytes, link_id: LinkId, address: str, user_agent: bytes) -> float:
    """A number from 0 to 1, 1 not included, which is the same for a visitor of a link as long as the key is.

    `key` is up to 64 random bytes. Visitors are told apart by address and browser: of an IPv6 address only
    the network counts, since devices change the rest.
    """
    who = f"{link_id}\n{network_of(address)}\n".encode() + user_agent
    return int.from_bytes(blake2b(who, key=key, digest_size=6).digest(), "big") / 2**48


def _targets(link: Link, number: int, then: Mapping[str, Any]) -> list[Target]:
    """Where the rule leads; nowhere if only a later version knows what it does."""
    parts = then.get("split") or ([then] if "destination_url" in then else [])
    plain = replace(link, rules=[])
    return [Target(number, leading_to(plain, part["destination_url"]), part.get("name")) for part in parts]


def _bounds(then: Mapping[str, Any]) -> list[float]:
    """At which share each part of a split ends, but for the last one; none if nothing is split."""
    weights = list(accumulate(part["weight"] for part in then.get("split", ())))
    return [weight / weights[-1] for weight in weights[:-1]]
