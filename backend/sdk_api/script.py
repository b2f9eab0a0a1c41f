"""GET {base_url}/waylink.js: the browser SDK as a file for a script tag."""

from __future__ import annotations

from pathlib import Path

from quart import Blueprint, Response, send_from_directory

SDK_DIST = Path(__file__).parents[2] / "sdk_dist"
# Seconds. An updated SDK reaches every site within the hour.
LIFETIME = 3600

script = Blueprint("sdk_script", __name__)


@script.get("/waylink.js")
async def script_tag_file() -> Response:
    """The SDK's script file."""
    return await _file("waylink.js")


@script.get("/waylink.js.map")
async def source_map() -> Response:
    """The source map of the SDK's script, for the developer tools of browsers."""
    return await _file("waylink.js.map")


async def _file(name: str) -> Response:
    response = await send_from_directory(SDK_DIST, name, cache_timeout=LIFETIME)
    # A script tag with an integrity hash is a cross-origin request that has to be allowed.
    response.headers["Access-Control-Allow-Origin"] = "*"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
