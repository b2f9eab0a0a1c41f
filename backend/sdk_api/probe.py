"""{sdk_api_url}/probe/…: `waylink doctor proxy` sends requests here through a proxy and sees what arrives.

It is asked by hand, so that it may take the framework's time. Pages may read what they may read of batches.
"""

from __future__ import annotations

import hashlib

from quart import Response, jsonify, request

from backend.json_api.call_limits import sender
from backend.json_api.json_body import read_bytes
from backend.sdk_api.blueprint import sdk
from backend.sdk_api.origins import ALLOW_ORIGIN, EXPOSED, CallingSite, reader_of
from backend.sdk_api.service import SdkService
from backend.web.current import of_app, peer, resources

# Only hashes are sent back: this route must not read out what a proxy adds to a request.
HASHED = ("Content-Type", "Cookie", "Origin", "Referer", "User-Agent", "X-Waylink-Probe")
# Only whether these arrived is reported: if one did, a proxy stands before the service.
FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP")


@sdk.route("/probe/<path:rest>", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
async def probe(rest: str) -> Response:
    """What arrived: method, rest of the path, query, hashes of body and headers, and proxies' headers.

    And whether whoever sent it is a proxy that is trusted.
    """
    body = await read_bytes()
    return jsonify(
        {
            "method": request.method,
            "path": rest,
            "query": request.query_string.decode("ascii", "replace"),
            "forwarded": [name for name in FORWARDED if name in request.headers],
            "trusted": resources().proxies.trusts(peer()),
            "body_sha256": hashlib.sha256(body).hexdigest(),
            "headers_sha256": {
                name: hashlib.sha256(request.headers[name].encode()).hexdigest()
                for name in HASHED
                if name in request.headers
            },
        }
    )


@sdk.after_request
async def _allow_reading(response: Response) -> Response:
    site = CallingSite(of_app(SdkService), sender(), request.headers.getlist("Origin"))
    response.vary.add("Origin")
    if origin := await reader_of(site, response.status_code):
        response.headers.update([(ALLOW_ORIGIN, origin), EXPOSED])
    return response
