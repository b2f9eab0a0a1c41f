"""The SDK's addresses under names of a site's choosing (`WAYLINK_SDK_PREFIXES`).

Blockers know the paths of measuring services as they know their hosts. A first-party proxy can write its own
names anew; one that passes paths on as they are needs a service that answers at them.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from typing import Any

from quart import Quart
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from backend.sdk_api.batch import BatchRoute
from backend.sdk_api.blueprint import sdk
from backend.settings import InvalidSetting
from backend.web.sdk_files import PARTS, SCRIPT, SENTENCES

Scope = MutableMapping[str, Any]
# What may follow right after a prefix, and the SDK's address that it stands for.
_ENDINGS = {
    "": BatchRoute.PATH,
    ".js": f"/{SCRIPT}",
    ".json": f"/{SENTENCES}",
    **{part.removeprefix("waylink"): f"/{part}" for part in PARTS},
}
# The beginnings of the SDK's addresses, the only ones that a prefix serves.
_BELOW = (f"{sdk.url_prefix}/", "/waylink.", "/waylink-")


class SdkPrefixes:
    """ASGI: answers requests to the SDK's addresses under each prefix as if they had come without it."""

    def __init__(self, api: Quart, prefixes: Iterable[str], answer: Any) -> None:
        """`answer` is the application that requests are passed on to; `api` has the service's other pages."""
        self._answer = answer
        self._prefixes = tuple(prefixes)
        for prefix in self._prefixes:
            _refuse_a_page(api, prefix)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        path = self._without_prefix(scope["path"])
        await self._answer({**scope, "path": path} if path else scope, receive, send)

    def _without_prefix(self, path: str) -> str | None:
        """The SDK's own path for one under a prefix; None for every other path."""
        for prefix in self._prefixes:
            rest = path.removeprefix(prefix)
            if rest != path and (rest in _ENDINGS or rest.startswith(_BELOW)):
                return _ENDINGS.get(rest, rest)
        return None


def _refuse_a_page(api: Quart, prefix: str) -> None:
    """Raise InvalidSetting if the service has a page of its own at this path."""
    try:
        if prefix == BatchRoute.PATH:
            raise MethodNotAllowed
        api.url_map.bind("").match(prefix, method="POST")
    except NotFound:
        return
    except HTTPException:  # the path is there, for another method or with a slash
        pass
    raise InvalidSetting("WAYLINK_SDK_PREFIXES", prefix, "a path that the service has no page at")
