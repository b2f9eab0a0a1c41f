"""Operations on what is known of customers' devices."""

from __future__ import annotations

from backend.json_api import error_table
from backend.rest_api.routes.operation import EVERYWHERE, KEY_ERRORS, Operation, query
from backend.rest_api.visitors import take_back_identity

OPERATIONS = (
    Operation(
        "take_back_identity",
        "delete",
        "/identities",
        "Take back that a device was a customer's",
        204,
        None,
        (error_table.QUERY_INVALID, *KEY_ERRORS, error_table.IDENTITY_NOT_FOUND, *EVERYWHERE),
        parameters=tuple(
            query(name, take_back_identity.QUERY[name].schema(), words) | {"required": True}
            for name, words in (
                ("device_id", "The device."),
                ("customer_id", "The customer that it was never."),
            )
        ),
    ),
)
