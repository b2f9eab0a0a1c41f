"""/tls/ask: may a proxy in front get a certificate for this name?

Caddy's on-demand TLS asks so before each certificate. So a new link domain works once it is configured here
and its DNS points at the proxy, and nobody can make the proxy get certificates for names that are not ours.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from quart import Blueprint, Response, abort, request

from backend.domain.web.host_names import InvalidHostName, normalize_host
from backend.operations.forwarded import was_forwarded
from backend.storage.accounts.domains import is_domain
from backend.web.current import resources

tls = Blueprint("tls", __name__)


@tls.get("/tls/ask")
async def may_have_certificate() -> Response:
    """200 if `domain` is the API's host or a link domain, else 404. 503 while the database does not answer.

    Only for the proxy itself: what came through a proxy gets 404.
    """
    if was_forwarded():
        abort(404)
    try:
        name = normalize_host(request.args.get("domain", ""))
    except InvalidHostName:
        abort(404)
    if name != urlsplit(resources().settings.base_url).hostname and not await is_domain(
        resources().database, name
    ):
        abort(404)
    return Response("", 200, headers={"Cache-Control": "no-store"})
