"""The operations that follow from a resource."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from backend.domain.fields.answer_schemas import answer_object
from backend.domain.fields.rules import Schema, Uuid
from backend.domain.resources.resource import Resource, Verb
from backend.domain.resources.resource_field import MadeBy
from backend.json_api.error_table import unknown_thing
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation, OperationView, reference
from backend.rest_api.routes.parameters import PathParameter, QueryParameter
from backend.storage.resources.things import Things
from backend.web.current import resources

_Json = dict[str, Any]
_NO_QUERY: Mapping[str, Any] = MappingProxyType({})


def operations_of(resource: Resource[Any]) -> list[Operation]:
    """The operations of the resource, whose routes are made by this. To be called once."""
    return [make(resource) for verb, make in _MADE.items() if verb in resource.rest.operations]


def query_of(resource: Resource[Any]) -> dict[str, QueryParameter]:
    """The parameters of the resource's list."""
    return {name: QueryParameter(own.rule, own.meaning) for name, own in resource.filters.items()}


def schemas_of(resource: Resource[Any]) -> dict[str, Schema]:
    """The schemas of the resource's answers."""
    names = resource.rest
    schemas = {names.schema: resource.schema()}
    if Verb.LIST in names.operations:
        listed = {"type": "array", "items": reference(names.schema)}
        schemas[names.list_schema] = answer_object(**{names.listed: listed})
    return schemas


def _list(resource: Resource[Any]) -> Operation:
    async def view(query: Mapping[str, Any] = _NO_QUERY) -> _Json:
        found = await Things(resource).list(resources().database, caller().org_id, query)
        return {resource.rest.listed: [resource.to_json(thing) for thing in found]}

    names = resource.rest
    return _made(resource, Verb.LIST, view, method="GET", query=query_of(resource), answer=names.list_schema)


def _add(resource: Resource[Any]) -> Operation:
    async def view(fields: dict[str, Any]) -> tuple[_Json, int]:
        database, now = resources().database, resources().clock()
        added = await Things(resource).add(database, caller().org_id, fields, now, MadeBy.REST)
        return resource.to_json(added), 201

    body = replace(_changes(resource), required=resource.required)
    return _made(resource, Verb.ADD, view, method="POST", body=body, status=201, answer=resource.rest.schema)


def _get(resource: Resource[Any]) -> Operation:
    async def view(given_id: str) -> _Json:
        return resource.to_json(await Things(resource).get(resources().database, caller().org_id, given_id))

    return _made_of_one(resource, Verb.GET, view, method="GET", answer=resource.rest.schema)


def _change(resource: Resource[Any]) -> Operation:
    async def view(given_id: str, fields: dict[str, Any]) -> _Json:
        database, org_id = resources().database, caller().org_id
        return resource.to_json(await Things(resource).change(database, org_id, given_id, fields))

    body, answer = _changes(resource), resource.rest.schema
    return _made_of_one(resource, Verb.CHANGE, view, method="PATCH", body=body, answer=answer)


def _delete(resource: Resource[Any]) -> Operation:
    async def view(given_id: str) -> None:
        await Things(resource).delete(resources().database, caller().org_id, given_id)

    return _made_of_one(resource, Verb.DELETE, view, method="DELETE", status=204)


# In the order of the document.
_MADE: Mapping[Verb, Callable[[Resource[Any]], Operation]] = {
    Verb.LIST: _list,
    Verb.ADD: _add,
    Verb.GET: _get,
    Verb.CHANGE: _change,
    Verb.DELETE: _delete,
}
_READING = {Verb.LIST, Verb.GET}


def _made_of_one(resource: Resource[Any], verb: Verb, view: OperationView, **more: Any) -> Operation:
    """An operation on what the id in its path names."""
    names = resource.rest
    unknown = unknown_thing(names.thing, names.not_found)
    given = PathParameter(names.id_name, Uuid().schema(), names.id_meaning, errors=(unknown,))
    return _made(resource, verb, view, at="/<given_id>", path_parameter=given, **more)


def _made(resource: Resource[Any], verb: Verb, view: OperationView, at: str = "", **more: Any) -> Operation:
    said = resource.rest.operations[verb]
    operation = Operation(
        name=said.name,
        path=resource.rest.path + at,
        summary=said.summary,
        needs=(resource.reads if verb in _READING else resource.writes,),
        **more,
    )
    operation(view)
    return operation


def _changes(resource: Resource[Any]) -> BodyFields:
    return BodyFields(resource.told, clearable=resource.clearable)
