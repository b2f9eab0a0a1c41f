"""Persons, as whoever asks for access or erasure names them."""

from __future__ import annotations

from dataclasses import dataclass

from backend.domain.ids import CustomerId, DeviceId, InstallId


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a request for access or erasure.

    It is a customer, a device, the owner of a hashed e-mail address, or an installation of an app. An
    installation whose id is a UUID is a device too.
    """

    customer_id: CustomerId | None = None
    device_id: DeviceId | None = None
    email_sha256: str | None = None
    install_id: InstallId | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """One person, known by customer ids, by hashes of e-mail addresses, and by devices.

    All of `devices` is the person's, whoever used them. `unclaimed` are devices that nobody was identified
    on, and whose first lead named an address of the person. `on_devices` are customers whom a browser said to
    have an address of the person: what they did on that device is the person's, and nothing else of them.
    """

    customers: frozenset[CustomerId] = frozenset()
    emails: frozenset[str] = frozenset()
    devices: frozenset[DeviceId] = frozenset()
    unclaimed: frozenset[DeviceId] = frozenset()
    on_devices: frozenset[tuple[DeviceId, CustomerId]] = frozenset()

    def customers_on(self, device_id: DeviceId | None) -> frozenset[CustomerId]:
        """The customers who are this person on a device; None stands for no device."""
        return self.customers | {
            customer_id for own_id, customer_id in self.on_devices if own_id == device_id
        }
