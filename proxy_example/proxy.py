"""A first-party proxy in Python: hands the SDK's script out and its calls on, from the site's own address.

The page loads `/a/hello.js`, which sends its calls to `/a/hello`; SDK_NAME chooses another name. Contract,
SDK rule 10: calls are forwarded as POST to the same path on the service's SDK API address, with all headers
except Host. Run it with: WAYLINK_SERVICE=https://links.example hypercorn proxy_example.proxy:app
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import httpx
from quart import Quart, Response, request
from werkzeug.datastructures import Headers

NAME = os.environ.get("SDK_NAME", "/a/hello")
SDK_API = "/serviceCore/sdk/v1/"
# Headers that are not forwarded: those of one connection (RFC 9110, section 7.6.1), those that are written
# anew, and one that Quart adds.
_NOT_FORWARDED = frozenset(
    {
        "host",
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "proxy-authenticate",
        "proxy-authorization",
        "content-length",
        "remote-addr",
    }
)
TIMEOUT = 15.0  # seconds; the SDK waits for ten

app = Quart(__name__)
app.config["MAX_CONTENT_LENGTH"] = 64 * 1024


@app.before_serving
async def open_client() -> None:
    """Open the pool of connections to the service."""
    client = httpx.AsyncClient(
        base_url=os.environ["WAYLINK_SERVICE"], timeout=TIMEOUT, follow_redirects=False
    )
    # No default headers are added: with httpx's Accept-Encoding, the service would compress for the proxy and
    # not for the browser.
    client.headers.clear()
    app.extensions["service"] = client


@app.after_serving
async def close_client() -> None:
    """Close the pool of connections."""
    await app.extensions["service"].aclose()


@app.get(f"{NAME}.js")
async def forward_script() -> Response:
    """The script."""
    return await _forward("/waylink.js")


@app.get(f"{NAME}-links.js")
async def forward_part_for_links() -> Response:
    """What the option `outboundLinks` needs."""
    return await _forward("/waylink-links.js")


@app.get(f"{NAME}-domains.js")
async def forward_part_for_domains() -> Response:
    """What the option `otherDomains` needs."""
    return await _forward("/waylink-domains.js")


@app.get(f"{NAME}-privacy.js")
async def forward_part_for_privacy() -> Response:
    """What the option `privacyControl` needs."""
    return await _forward("/waylink-privacy.js")


@app.get(f"{NAME}.json")
@app.get(f"{NAME}/waylink.json")
async def forward_sentences() -> Response:
    """The sentences of `debug`: the script asks for them beside itself, the npm package below `baseUrl`."""
    return await _forward("/waylink.json")


@app.post(NAME)
async def forward_batch() -> Response:
    """The calls of a script that has the site's own name."""
    return await _forward(f"{SDK_API}batch")


@app.post(f"{NAME}{SDK_API}<path:rest>")
async def forward_call(rest: str) -> Response:
    """What is sent below a `baseUrl`."""
    return await _forward(SDK_API + rest)


async def _forward(path: str) -> Response:
    """Send the request on to this path of the service, and give its answer, with its bytes as they come."""
    service: httpx.AsyncClient = app.extensions["service"]
    query = request.query_string.decode("ascii")
    sent = service.build_request(
        request.method,
        path + (f"?{query}" if query else ""),
        headers=[*_forwarded(request.headers.items()), ("X-Forwarded-For", request.remote_addr or "unknown")],
        content=await request.get_data(),
    )
    try:
        answer = await service.send(sent, stream=True)
        content = b"".join([piece async for piece in answer.aiter_raw()])
    except httpx.TransportError:
        return Response("The service can't be reached.", 502)  # the SDK sends again later
    response = Response(content, answer.status_code, Headers(_forwarded(answer.headers.multi_items())))
    del response.headers["Content-Length"]
    if "Content-Length" in answer.headers:  # HEAD has that of a content which is not sent; 304 has none
        response.headers["Content-Length"] = answer.headers["Content-Length"]
    return response


def _forwarded(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers without those that concern one connection only."""
    return [(name, value) for name, value in headers if name.lower() not in _NOT_FORWARDED]
