"""The operations of the REST API, in the order in which the OpenAPI document shows them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from backend.domain.all_resources import RESOURCES
from backend.domain.resources.resource import Resource
from backend.rest_api.alerts import alerts
from backend.rest_api.alerts import rules as alert_rules
from backend.rest_api.analytics import cohorts, counts, event_properties, invitations, query
from backend.rest_api.annotations import annotation_list
from backend.rest_api.archives import archives
from backend.rest_api.audit import log as audit_log
from backend.rest_api.clicks import export
from backend.rest_api.costs import costs
from backend.rest_api.destinations import rules
from backend.rest_api.domains import domains, orphans, own_domains
from backend.rest_api.feed import events
from backend.rest_api.funnels import ask
from backend.rest_api.keys import keys
from backend.rest_api.links import bulk, change, create, info, listing, page, preview, write
from backend.rest_api.members import members
from backend.rest_api.qr_codes import codes, logo
from backend.rest_api.reports import recipients, reports
from backend.rest_api.resources.operations import operations_of
from backend.rest_api.routes.operation import REGISTERED, Operation
from backend.rest_api.sales import explain, tell_calls, tell_refunds
from backend.rest_api.tags import tags, utm_templates
from backend.rest_api.taps import explain as explain_taps
from backend.rest_api.visitors import take_back_identity
from backend.rest_api.webhooks import webhooks

# Every module that has operations, and resources, from which others follow. What is not here has no routes.
_PLACES: tuple[ModuleType | Resource[Any], ...] = (
    *(create, change, info, listing, write, preview, explain_taps, bulk, page),
    *(codes, logo),
    *(tags, utm_templates),
    rules,
    *(domains, own_domains, orphans),
    *(counts, export),
    *(tell_calls, tell_refunds, explain),
    *(query, cohorts, event_properties),
    invitations,
    costs,
    recipients,
    ask,
    reports,
    annotation_list,
    *RESOURCES,
    *(alert_rules, alerts),
    take_back_identity,
    events,
    webhooks,
    keys,
    members,
    archives,
    audit_log,
)


def _at(place: ModuleType | Resource[Any]) -> list[Operation]:
    """The operations of a module in the order of its file, or those of a resource."""
    if isinstance(place, Resource):
        return operations_of(place)
    return [operation for operation in REGISTERED.values() if operation.view.__module__ == place.__name__]


OPERATIONS = [operation for place in _PLACES for operation in _at(place)]
