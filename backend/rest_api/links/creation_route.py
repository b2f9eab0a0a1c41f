"""The routes that create single links: plain ASGI, since the framework takes longer than all the rest.

The framework knows that they are there, and answers every method but POST.
"""

from __future__ import annotations

import contextlib
from typing import Any

from backend.json_api.asgi_answer import AsgiAnswer, encoded, error_answer
from backend.json_api.asgi_request import AsgiRequest, ClientGone, Scope
from backend.json_api.authentication import KEY_HEADER
from backend.json_api.keyed_request import keyed_request
from backend.rest_api.links.create import create_link
from backend.rest_api.links.write import post_link
from backend.rest_api.routes.blueprint import API_ROOT, admit
from backend.rest_api.routes.operation import REGISTERED

_VARY = (b"vary", KEY_HEADER.encode())
_CREATING = {
    API_ROOT + operation.path: operation
    for operation in (REGISTERED[view.__name__] for view in (create_link, post_link))
}
CREATION_PATHS = tuple(_CREATING)


class CreationRoute:
    """The ASGI application for POST at one of CREATION_PATHS."""

    def __init__(self, path: str) -> None:
        self._operation = _CREATING[path]

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer one request."""
        with contextlib.suppress(ClientGone):
            answer = await self._answer(AsgiRequest(scope, receive))
            answer.headers += [*encoded(keyed_request().rate_limit_headers.items()), _VARY]
            await answer.send(send)

    async def _answer(self, request: AsgiRequest) -> AsgiAnswer:
        try:
            operation = self._operation
            await admit(
                operation.endpoint,
                operation.invalid_key,
                operation.needs,
                holds_reach=operation.holds_reach,
            )
            answer: AsgiAnswer = await self._operation.view(request)
        except ClientGone:
            raise
        except Exception as error:
            return error_answer(error)
        return answer
