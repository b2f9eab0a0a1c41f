"""Erases a device's data when the visitor withdraws consent and the browser asks for it."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.organizations import Organization
from backend.domain.visitors.batches import Envelope
from backend.domain.visitors.persons import Subject
from backend.sdk_api.service import SdkService
from backend.storage.lifecycle.privacy.privacy import erase_subject

_NOT_SWITCHED_ON = "erase: the organization has not switched it on; see `waylink privacy withdrawal`"


async def withdraw(service: SdkService, organization: Organization, envelope: Envelope) -> dict[str, Any]:
    """Erase what the organization has of the device, if it has switched that on. Returns the answer's body.

    Only that browser, or that app, knows the device id, so the id alone gives the right to erase. An
    interrupted request can be sent again.
    """
    if organization.erases_on_withdrawal:
        subject = Subject(device_id=envelope.device_id, install_id=envelope.install_id)
        await erase_subject(service.resources.database, organization.id, subject)
    notes = [*envelope.notes, *([] if organization.erases_on_withdrawal else [_NOT_SWITCHED_ON])]
    answer = {"results": [], "erased": organization.erases_on_withdrawal}
    return answer | ({"notes": notes} if notes else {})
