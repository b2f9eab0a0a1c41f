"""The dashboard's routes, read from the dashboard itself: a new page is in every test that walks them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping

from quart import Quart

from backend.dashboard import dashboard


def routes(method: str, ids: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address of every route with this method, with these values in it.

    A name in an address that has no value gets an id that stands for nothing.
    """
    app = Quart("routes")
    app.register_blueprint(dashboard)
    for rule in app.url_map.iter_rules():
        if rule.endpoint.startswith("dashboard.") and method in (rule.methods or set()):
            path = rule.rule
            for name in rule.arguments:
                path = path.replace(f"<{name}>", (ids or {}).get(name) or str(uuid.uuid4()))
            yield path
