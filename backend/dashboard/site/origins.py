"""/origins: the sites that may use the browser SDK, and recently refused requests."""

from __future__ import annotations

from quart import Response, abort

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.domain.accounts.origins import InvalidOrigin, parse_origin
from backend.domain.accounts.permissions import Permission
from backend.storage.accounts.origin_refusals import RefusedOrigin, by_origin, list_origin_refusals
from backend.storage.accounts.origins import add_origin, list_origins, remove_origin
from backend.web.current import resources


@dashboard.get("/origins")
@needs(Permission.SETTINGS_READ)
async def origins() -> Response:
    """The allowed origins, and the latest refused requests."""
    return await _page()


@dashboard.post("/origins")
@needs(Permission.SETTINGS_WRITE)
@once
async def origins_add() -> Response:
    """Allow an origin."""
    text = field("origin")
    try:
        origin = parse_origin(text)
    except (InvalidOrigin, ValueError) as error:
        return await _page(text, _without_subject(str(error)))
    await add_origin(resources().database, origin, org_id(), resources().clock())
    return redirect_with_notice("origins", "origin-allowed")


@dashboard.post("/origins/remove")
@needs(Permission.SETTINGS_WRITE)
async def origins_remove() -> Response:
    """Stop allowing an origin."""
    if not await remove_origin(resources().database, field("origin"), org_id()):
        abort(404)
    return redirect_with_notice("origins", "origin-removed")


async def _page(text: str = "", problem: str = "") -> Response:
    database = resources().database
    allowed = await list_origins(database, org_id())
    refused = by_origin(await list_origin_refusals(database, org_id()))
    return await page(
        "site/origins.html",
        422 if problem else 200,
        allowed=allowed,
        refused=[(refused_origin, _can_be_allowed(refused_origin, allowed)) for refused_origin in refused],
        text=text,
        problem=problem,
    )


def _can_be_allowed(refused: RefusedOrigin, allowed: list[str]) -> bool:
    """Whether the refused origin is valid and not allowed yet, so that the page can offer to allow it."""
    try:
        return parse_origin(refused.origin) == refused.origin and refused.origin not in allowed
    except ValueError:
        return False


def _without_subject(sentence: str) -> str:
    return (
        sentence.removeprefix("an origin ") if sentence.startswith("an origin ") else f"is wrong: {sentence}"
    )
