"""A check of schemathesis' run (test_openapi), which loads it as its hooks."""

from __future__ import annotations

import gc
from typing import Any

import schemathesis
from schemathesis.checks import CheckContext
from schemathesis.core.transport import Response
from schemathesis.specs.openapi.checks import negative_data_rejection

# Among its schemas and strategies, which all stay, Python would look for garbage again and again.
gc.set_threshold(200_000)


@schemathesis.check
def wrong_data_is_told(ctx: CheckContext, response: Response, case: schemathesis.Case[Any]) -> bool | None:
    """What the document does not allow is refused; in a list of many, the result of one says that it was."""
    is_json = response.headers.get("content-type") == ["application/json"]
    answer = response.json() if is_json else {}
    if any(result["status"] == "rejected" for result in answer.get("results", [])):
        return None
    return negative_data_rejection(ctx, response, case)
