"""Finds out whose data is whose: persons, and the devices that they use alone or share with others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto

from backend.domain.ids import CustomerId


@dataclass(frozen=True, slots=True)
class Person:
    """One person, known by customer ids and by hashes of e-mail addresses."""

    customers: frozenset[CustomerId] = frozenset()
    emails: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class DeviceUser:
    """Somebody who used a device from `at` on: a customer, or the owner of a hashed e-mail address."""

    at: datetime
    customer_id: CustomerId | None = None
    email_sha256: str | None = None

    def is_person(self, person: Person) -> bool:
        """Whether this user is the given person."""
        return self.customer_id in person.customers or self.email_sha256 in person.emails


class Share(Enum):
    """Which part of a device's data belongs to a person."""

    ALL = auto()  # nobody else used it
    BEGINNING = auto()  # others used it too, but what it did before it was identified is the person's
    LATER = auto()  # what it did before it was identified is somebody else's, or nobody's


def person_of(
    customers: Iterable[CustomerId],
    emails: Iterable[str],
    users_by_email: Mapping[str, Collection[CustomerId]],
) -> Person:
    """The person with these customer ids and hashed e-mail addresses.

    `users_by_email` maps the person's e-mail addresses to all customers who were identified by them. An
    address also becomes the person's if nobody else was identified by it.
    """
    ids = frozenset(customers)
    theirs = {email for email, users in users_by_email.items() if ids.issuperset(users)}
    return Person(ids, frozenset(emails) | theirs)


def users_of_device(
    customers: Iterable[DeviceUser],
    senders: Iterable[DeviceUser],
    users_by_email: Mapping[str, Collection[CustomerId]],
) -> list[DeviceUser]:
    """The users of a device, in order of time.

    `customers` are those the device was identified as. `senders` left an e-mail address in a lead while the
    device was not identified. `users_by_email` maps each such address to the customers who were identified by
    it. An address without a customer counts as a user of its own only if the device was never identified;
    else it is taken for its first customer's.
    """
    identified = list(customers)
    ids = {user.customer_id for user in identified}
    others = [
        sender
        for sender in senders
        if (users := users_by_email.get(sender.email_sha256 or "", ())) or not identified
        if ids.isdisjoint(users)
    ]
    return sorted((*identified, *others), key=lambda user: user.at)


def share_of(person: Person, users: Sequence[DeviceUser]) -> Share:
    """Which part of a device belongs to the person. `users` are the device's users, in order of time.

    There are none where the device's only identity was taken back; then nothing of it is the person's.
    """
    if users and all(user.is_person(person) for user in users):
        return Share.ALL
    return Share.BEGINNING if users and users[0].is_person(person) else Share.LATER
