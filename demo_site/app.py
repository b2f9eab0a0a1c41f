"""The shop's web application. It stores nothing: the basket is kept in the visitor's browser."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from os import PathLike
from pathlib import Path

from quart import Quart, Response, abort, render_template, send_from_directory
from quart.wrappers.response import IOBody

from demo_site.content_security_policy import content_security_policy
from demo_site.kites import CURRENCY, KITE_OF_SLUG, KITES

FILE_SECONDS = 10  # for which browsers keep styles and scripts
SDK_SCRIPT = Path(__file__).parents[1] / "sdk_dist" / "waylink.js"


@dataclass(frozen=True, slots=True)
class DemoSite:
    """The shop's settings for Waylink."""

    api_base_url: str  # the service's public address, http://localhost:8080
    web_key: str  # the public key of the organization, c_web_...
    short_url: str  # a link of the organization that leads to the shop
    sdk_script: Path = SDK_SCRIPT


class _WholeFile(IOBody):
    """A file's content, read at once: the shop's files are small.

    Quart's own body opens the file in a thread. It leaves the file open when the visitor is gone by then.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        super().__init__(BytesIO(Path(path).read_bytes()))


class _ShopResponse(Response):
    file_body_class = _WholeFile  # type: ignore[assignment]  # Quart makes it of the path alone


def create_demo_site(config: DemoSite) -> Quart:
    """The shop as an ASGI application. It also serves the SDK itself, under /sdk/."""
    shop = Quart("demo_site")
    shop.response_class = _ShopResponse
    policy = content_security_policy(config.api_base_url)

    @shop.context_processor
    def every_page_knows() -> dict[str, object]:
        return {"config": config, "kites": KITES, "currency": CURRENCY}

    @shop.after_request
    def secured(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = policy
        response.headers["Referrer-Policy"] = "strict-origin-when-cross-origin"
        # For development, a changed page is used at the next load, and a changed script soon: were it at
        # once, each page would ask for all of its files again.
        is_page = response.mimetype == "text/html"
        response.headers["Cache-Control"] = "no-cache" if is_page else f"max-age={FILE_SECONDS}"
        return response

    _add_pages(shop)
    _add_sdk(shop, config.sdk_script)
    return shop


def _add_pages(shop: Quart) -> None:
    @shop.get("/")
    async def home() -> str:
        return await render_template("home.html")

    @shop.get("/kites/<slug>")
    async def product(slug: str) -> str:
        kite = KITE_OF_SLUG.get(slug) or abort(404)
        return await render_template("product.html", kite=kite)

    @shop.get("/checkout")
    async def checkout() -> str:
        return await render_template("checkout.html")

    @shop.get("/thank-you")
    async def thank_you() -> str:
        return await render_template("thank_you.html")

    @shop.errorhandler(404)
    async def not_found(_: Exception) -> tuple[str, int]:
        return await render_template("not_found.html"), 404


def _add_sdk(shop: Quart, script: Path) -> None:
    @shop.get("/sdk/<path:name>")
    async def sdk(name: str) -> Response:
        """The SDK's file, or its source map for the browser's developer tools."""
        return await send_from_directory(script.parent, name)
