"""{sdk_api_url}/probe/…: `waylink doctor proxy` sends requests here through a proxy and sees what arrives."""

from __future__ import annotations

import hashlib

from quart import Response, jsonify, request

from backend.json_api.json_body import read_bytes
from backend.sdk_api.blueprint import sdk

# Only hashes are sent back: this route must not read out what a proxy adds to a request.
HASHED = ("Content-Type", "Cookie", "Origin", "Referer", "User-Agent", "X-Waylink-Probe")
# Only whether these arrived is reported: if one did, a proxy stands before the service.
FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP")


@sdk.route("/probe/<path:rest>", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
async def probe(rest: str) -> Response:
    """What arrived: method, rest of the path, query, hashes of body and headers, and proxies' headers."""
    body = await read_bytes()
    return jsonify(
        {
            "method": request.method,
            "path": rest,
            "query": request.query_string.decode("ascii", "replace"),
            "forwarded": [name for name in FORWARDED if name in request.headers],
            "body_sha256": hashlib.sha256(body).hexdigest(),
            "headers_sha256": {
                name: hashlib.sha256(request.headers[name].encode()).hexdigest()
                for name in HASHED
                if name in request.headers
            },
        }
    )
