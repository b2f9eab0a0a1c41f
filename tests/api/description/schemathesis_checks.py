"""Hooks of schemathesis' run (test_openapi): a check, and what is tried in one operation only."""

from __future__ import annotations

import copy
import gc
import json
from typing import Any

import schemathesis
from schemathesis.checks import CheckContext
from schemathesis.core.transport import Response
from schemathesis.hooks import HookContext
from schemathesis.specs.openapi.checks import negative_data_rejection

from backend.json_api.json_body import MAX_BODY_BYTES

# Among its schemas and strategies, which all stay, Python would look for garbage again and again.
gc.set_threshold(200_000)

# Rules of more characters are those of one kind of value, whatever its field is called.
_OF_ANY_NAME = 120


@schemathesis.check
def wrong_data_is_told(ctx: CheckContext, response: Response, case: schemathesis.Case[Any]) -> bool | None:
    """What the document does not allow is refused; in a list of many, the result of one says that it was."""
    is_json = response.headers.get("content-type") == ["application/json"]
    answer = response.json() if is_json else {}
    if any(result["status"] == "rejected" for result in answer.get("results", [])):
        return None
    if response.status_code == 413 and _is_too_large(response.request.body):
        return None  # a refusal too, though schemathesis does not know it as one
    return negative_data_rejection(ctx, response, case)


def _is_too_large(body: object) -> bool:
    return isinstance(body, bytes) and len(body) > MAX_BODY_BYTES


@schemathesis.hook
def before_load_schema(_: HookContext, document: dict[str, Any]) -> None:
    """What a body may have is tried in the first operation that takes it: fields of one name and the same
    rules have the same code, and so have filters of any name. Else these would be most of the cases.

    A body that would be left with no field keeps all of them.
    """
    components, tried = document["components"]["schemas"], set[str]()
    for methods in document["paths"].values():
        for operation in methods.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                schema = content.get("schema", {})
                body = components.get(_referred_to(schema), schema)
                whole = copy.deepcopy(body)
                _keep_untried(body, components, tried)
                if body.get("properties") == {}:
                    body.update(whole)


def _referred_to(schema: dict[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _keep_untried(schema: dict[str, Any], components: dict[str, Any], tried: set[str]) -> None:
    """Take the fields that were tried out of an object's schema, and note the others."""
    for fields in (schema.get("properties", {}), schema.get("patternProperties", {})):
        for name, rules in list(fields.items()):
            text = json.dumps({keyword: rule for keyword, rule in rules.items() if keyword != "description"})
            key = text if "$ref" in rules or len(text) > _OF_ANY_NAME else f"{name}: {text}"
            if key in tried and name not in schema.get("required", ()):
                del fields[name]
            else:
                tried.add(key)
                _keep_untried(components.get(_referred_to(rules), rules), components, tried)
    # Of several objects that a field may be, what one takes no more would be thought to be refused by all.
    objects = [rules for rules in schema.get("anyOf", ()) if "properties" in rules]
    for rules in (*(objects if len(objects) == 1 else ()), *([schema["items"]] if "items" in schema else ())):
        _keep_untried(components.get(_referred_to(rules), rules), components, tried)
