"""The routes below {base_url}/serviceCore/sdk/v1, but for that of batches (sdk_api/batch)."""

from __future__ import annotations

from quart import Blueprint

sdk = Blueprint("sdk", __name__, url_prefix="/serviceCore/sdk/v1")
