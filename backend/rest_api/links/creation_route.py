"""The routes that create single links: plain ASGI, since the framework takes longer than all the rest.

The framework knows that they are there, and answers every method but POST.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from backend.json_api.asgi_answer import AsgiAnswer, encoded, error_answer
from backend.json_api.asgi_request import AsgiRequest, ClientGone, Scope
from backend.json_api.authentication import KEY_HEADER
from backend.rest_api.links.create import create_link
from backend.rest_api.links.write import post_link
from backend.rest_api.routes.blueprint import API_ROOT, admit, rest
from backend.web.current import known

_CREATE_LINK = "/create-link"
_VARY = (b"vary", KEY_HEADER.encode())
_CREATING: dict[str, Callable[[AsgiRequest], Awaitable[AsgiAnswer]]] = {
    _CREATE_LINK: create_link,
    "/links": post_link,
}
CREATION_PATHS = tuple(API_ROOT + path for path in _CREATING)
for _path, _create in _CREATING.items():
    rest.add_url_rule(_path, endpoint=_create.__name__, methods=["POST"])


class CreationRoute:
    """The ASGI application for POST at one of CREATION_PATHS."""

    def __init__(self, path: str) -> None:
        own = path.removeprefix(API_ROOT)
        self._create = _CREATING[own]
        self._is_create_link = own == _CREATE_LINK

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer one request."""
        with contextlib.suppress(ClientGone):
            answer = await self._answer(AsgiRequest(scope, receive))
            answer.headers += [*encoded(known().limit_headers.items()), _VARY]
            await answer.send(send)

    async def _answer(self, request: AsgiRequest) -> AsgiAnswer:
        try:
            await admit(is_create_link=self._is_create_link)
            return await self._create(request)
        except ClientGone:
            raise
        except Exception as error:
            return error_answer(error)
