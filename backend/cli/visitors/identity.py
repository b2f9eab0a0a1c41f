"""`waylink identity`."""

from __future__ import annotations

import click

from backend.cli.command import CommandResult, stored
from backend.cli.options import org_option
from backend.domain.fields.rules import is_uuid
from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.visitors.call_texts import as_stored
from backend.storage.accounts import organizations
from backend.storage.driver.mongo import Database
from backend.storage.visitors.identities import take_back
from backend.system.clock import utc_now


@click.group()
def identity() -> None:
    """The customers that devices were identified as."""


@identity.command("take-back")
@org_option
@click.option("--device", required=True, metavar="ID", help="Id of the device.")
@click.option("--customer", "customer_id", required=True, metavar="ID", help="Whom it was never.")
@stored
async def take_back_identity(
    database: Database, org_id: OrgId, device: str, customer_id: CustomerId
) -> CommandResult:
    """Take back that a device was a customer's, as after a wrong sign-in.

    Reports give credit without it from then on; as it stood before, they still can. A later identification
    counts again.
    """
    await organizations.get_organization(database, org_id)
    device_id = DeviceId(device.lower())
    customer_id = CustomerId(as_stored(customer_id))
    is_known = is_uuid(device_id) and await take_back(database, org_id, device_id, customer_id, utc_now())
    if not is_known:
        raise click.ClickException(f"No device {device!r} is identified as the customer {customer_id!r}.")
    return {"device_id": device_id, "customer_id": customer_id}
