"""Hooks of schemathesis' run (test_openapi): a check, and what is tried in one operation only."""

from __future__ import annotations

import gc
import json
import os
from typing import Any

import schemathesis
from schemathesis.checks import CheckContext
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.transport import Response
from schemathesis.generation.meta import CoveragePhaseData
from schemathesis.hooks import HookContext
from schemathesis.specs.openapi.checks import negative_data_rejection

from tests.api.description.tried_by_others import TRIED_BY_OTHERS

# Among its schemas and strategies, which all stay, Python would look for garbage again and again.
gc.set_threshold(200_000)

# The service's limit, told by the test: the service's modules are not imported here.
MAX_BODY_BYTES = int(os.environ["MAX_BODY_BYTES"])
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
    if response.status_code == 200 and '""' in str(response.request.body):
        return None  # the empty text means that a field is not set, whatever its rule
    return negative_data_rejection(ctx, response, case)


def _is_too_large(body: object) -> bool:
    return isinstance(body, bytes) and len(body) > MAX_BODY_BYTES


# Each body or parameter of an operation, with what schemathesis says it tries of it.
_tried = set[tuple[object, ...]]()


@schemathesis.hook
def filter_case(_: HookContext, case: schemathesis.Case[Any]) -> bool:
    """Of cases that are described alike, such as the five wrong types of one field, the first is enough; and
    headers are read by the same code for all operations (keys are also what `ignored_auth` is about)."""
    data = case.meta.phase.data if case.meta else None
    if not isinstance(data, CoveragePhaseData):
        return True
    where = "" if data.parameter_location is ParameterLocation.HEADER else (case.operation.label, case.method)
    what = (where, data.parameter, data.location, data.scenario, data.description)
    is_new = what not in _tried
    _tried.add(what)
    return is_new


@schemathesis.hook
def before_load_schema(_: HookContext, document: dict[str, Any]) -> None:
    """What is sent is tried in the first operation that takes it: fields and parameters of one name and the
    same rules have the same code, and so have filters of any name. Else these would be most of the cases.
    """
    fields = _Fields(document["components"]["schemas"])
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    for operation in operations:
        bodies = operation.get("requestBody", {}).get("content", {}).values()
        if operation["operationId"] in TRIED_BY_OTHERS:
            for content in bodies:
                content |= {
                    "schema": {"type": "object"},
                    "example": TRIED_BY_OTHERS[operation["operationId"]],
                }
            continue
        fields.keep_untried_parameters(operation)
        for content in bodies:
            fields.keep_untried(content.get("schema", {}))


class _Fields:
    """The fields and parameters that were tried."""

    def __init__(self, components: dict[str, Any]) -> None:
        self._components = components
        self._tried = set[str]()
        self._looked_at = set[str]()

    def keep_untried_parameters(self, operation: dict[str, Any]) -> None:
        """Take the parameters that were tried out of an operation, and note the others."""
        parameters = {item["name"]: item for item in operation.get("parameters", ())}
        rules = {name: parameter["schema"] for name, parameter in parameters.items()}
        kept = self._untried(rules, {name for name in parameters if parameters[name].get("required")})
        operation["parameters"] = [parameters[name] for name in kept]

    def keep_untried(self, schema: dict[str, Any]) -> None:
        """Take the fields that were tried out of the objects that a schema describes, and note the others.

        One field stays, or nothing would be tried of the object.
        """
        if schema.get("$ref") and schema["$ref"] not in self._looked_at:
            self._looked_at.add(schema["$ref"])
            self.keep_untried(self._referred_to(schema))
        for keyword in ("properties", "patternProperties"):
            if rules := schema.get(keyword):
                kept = self._untried(rules, set(schema.get("required", ()))) or dict([*rules.items()][:1])
                schema[keyword] = kept
                for name in kept:
                    self.keep_untried(kept[name])
        for rules in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            self.keep_untried(rules)
        if "items" in schema:
            self._keep_untried_of_list(schema)

    def _keep_untried_of_list(self, schema: dict[str, Any]) -> None:
        """Of an object that was tried by itself, a list takes what is required."""
        if schema["items"].get("$ref") not in self._looked_at:
            self.keep_untried(schema["items"])
            return
        alone = self._referred_to(schema["items"])
        required = alone.get("required", [*alone["properties"]][:1])
        fields = {name: alone["properties"][name] for name in required}
        schema["items"] = alone | {"properties": fields}

    def _referred_to(self, schema: dict[str, Any]) -> dict[str, Any]:
        described: dict[str, Any] = self._components[schema["$ref"].rpartition("/")[2]]
        return described

    def _untried(self, fields: dict[str, Any], required: set[str]) -> dict[str, Any]:
        kept = {}
        for name, rules in fields.items():
            text = json.dumps({keyword: rule for keyword, rule in rules.items() if keyword != "description"})
            key = text if "$ref" in rules or len(text) > _OF_ANY_NAME else f"{name}: {text}"
            if name in required or key not in self._tried:
                kept[name] = rules
            self._tried.add(key)
        return kept
