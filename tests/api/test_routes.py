"""The routes of the API."""

from __future__ import annotations

from werkzeug.routing import Rule

from backend.app import Service
from backend.json_api.one_way_rule import OneWayRule


async def test_addresses_are_built_when_one_is_asked_for(service: Service) -> None:
    """As Werkzeug's own rules build them, with a query of what the path has no place for."""
    ours = [rule for rule in service.api.url_map.iter_rules() if isinstance(rule, OneWayRule)]
    assert len(ours) > 100
    for rule in ours:
        values = dict.fromkeys(rule.arguments, "a b") | {"more": "c&d"}
        usual = Rule(rule.rule, rule.defaults, endpoint=rule.endpoint, methods=rule.methods)
        usual.bind(service.api.url_map, rebind=True)
        for append_unknown in (True, False):
            assert rule.build(values, append_unknown) == usual.build(values, append_unknown)


async def test_no_route_for_files_that_are_not_there(service: Service) -> None:
    """Every route of the API is one that somebody wrote: the framework adds none for a folder of its own."""
    assert not service.api.has_static_folder
    assert "static" not in service.api.view_functions
