"""GET, PUT and DELETE /qr-logo: the logo that an organization's QR codes can have."""

from __future__ import annotations

import base64
from typing import Any

from quart import Response

from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Schema, parse_string
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.storage.links.qr_logos import find_logo, remove_logo, set_logo
from backend.web.current import resources
from backend.web.qr_codes.files import kept_logo

_PATH = "/qr-logo"
# 256 KiB in base64, and the rest of the body.
_MOST_BYTES = 400_000


class _ImageText:
    """An image file in base64."""

    def parse(self, field: str, value: object) -> bytes:
        """The file. Raises InvalidField."""
        try:
            return base64.b64decode(parse_string(field, value), validate=True)
        except ValueError:  # not base64, or not even ASCII
            raise InvalidField(field, "must be an image file in base64") from None

    def schema(self) -> Schema:
        """JSON Schema of the text."""
        return {"type": "string", "contentEncoding": "base64"}


@Operation(
    method="GET",
    path=_PATH,
    summary="Get the logo of QR codes",
    needs=(Permission.SETTINGS_READ,),
    files={"image/png": "The logo, as it is drawn."},
    errors=(error_table.LOGO_NOT_SET,),
)
async def get_qr_logo() -> Response:
    """The logo; 404 if there is none."""
    logo = await find_logo(resources().database, caller().org_id)
    if logo is None:
        raise ApiError(error_table.LOGO_NOT_SET)
    return Response(logo, mimetype="image/png")


@Operation(
    method="PUT",
    path=_PATH,
    summary="Set the logo of QR codes",
    needs=(Permission.SETTINGS_WRITE,),
    body=BodyFields({"image": _ImageText()}, required=("image",), most_bytes=_MOST_BYTES),
    status=204,
    errors=(error_table.TOO_MUCH_WAITS,),
)
async def put_qr_logo(fields: dict[str, Any]) -> tuple[str, int]:
    """Keep the image, at most 400 pixels a side, in the place of the one before."""
    image = await kept_logo(caller().org_id, "image", fields["image"])
    await set_logo(resources().database, caller().org_id, image, resources().clock())
    return "", 204


@Operation(
    method="DELETE",
    path=_PATH,
    summary="Remove the logo of QR codes",
    needs=(Permission.SETTINGS_WRITE,),
    status=204,
    errors=(error_table.LOGO_NOT_SET,),
)
async def delete_qr_logo() -> tuple[str, int]:
    """Remove it; 404 if there is none."""
    if not await remove_logo(resources().database, caller().org_id):
        raise ApiError(error_table.LOGO_NOT_SET)
    return "", 204
