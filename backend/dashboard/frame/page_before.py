"""The page that a form was sent from."""

from __future__ import annotations

from urllib.parse import urlsplit

from quart import current_app, request, url_for


def page_before() -> str:
    """The path of the page with the form, as the browser tells it.

    An address that only takes forms has answered with that page: those above it are tried.
    """
    came_from = urlsplit(request.headers.get("Referer", ""))
    if came_from.netloc != request.host:
        return url_for("dashboard.home")
    if _is_page(came_from.path):
        return f"{came_from.path}?{came_from.query}" if came_from.query else came_from.path
    above = came_from.path
    while above and not _is_page(above):
        above = above.rpartition("/")[0]
    return above or url_for("dashboard.home")


def _is_page(path: str) -> bool:
    adapter = current_app.create_url_adapter(request)
    assert adapter  # only without a request there is none
    return adapter.test(path, "GET")
