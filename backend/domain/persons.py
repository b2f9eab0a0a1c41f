"""Whose it is what is stored of visitors: persons, and the devices that they use alone or with others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody, by customer ids and by e-mail addresses (hashed)."""

    customers: frozenset[str] = frozenset()
    emails: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class User:
    """Who used a device from `at` on: a customer, or whoever has an e-mail address (hashed)."""

    at: datetime
    customer_id: str | None = None
    email_sha256: str | None = None

    def is_person(self, person: Person) -> bool:
        """Whether this is the person."""
        return self.customer_id in person.customers or self.email_sha256 in person.emails


class Share(Enum):
    """What a person has of a device."""

    ALL = auto()  # nobody else used it
    BEGINNING = auto()  # others used it too, but what it did before it was identified is the person's
    LATER = auto()  # what it did before it was identified is somebody else's


def person_of(
    customers: Iterable[str], emails: Iterable[str], known: Mapping[str, Collection[str]]
) -> Person:
    """The person with these customer ids and e-mail addresses.

    `known` has all customers of each address that one of these customers was identified by. Addresses that
    nobody else was identified by are the person's own, too.
    """
    own = frozenset(customers)
    return Person(own, frozenset(emails) | {email for email, users in known.items() if own.issuperset(users)})


def users_of_device(
    customers: Iterable[User], senders: Iterable[User], known: Mapping[str, Collection[str]]
) -> list[User]:
    """Who used a device, the first one first.

    `customers` are those it was identified as, `senders` those who left an e-mail address with a lead while
    it was not identified, and `known` has the customers of each such address. An address that is nobody's
    tells of a user only where the device was never identified: else it is the first customer's.
    """
    identified = list(customers)
    ids = {each.customer_id for each in identified}
    others = [
        sender
        for sender in senders
        if (users := known.get(sender.email_sha256 or "", ())) or not identified
        if ids.isdisjoint(users)
    ]
    return sorted((*identified, *others), key=lambda each: each.at)


def share_of(person: Person, users: Sequence[User]) -> Share:
    """What the person has of a device with these users, the first one first."""
    if all(user.is_person(person) for user in users):
        return Share.ALL
    return Share.BEGINNING if users[0].is_person(person) else Share.LATER
