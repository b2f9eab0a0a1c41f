"""The routes of the API."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from werkzeug.routing import Map, Rule

from backend.app import Service
from backend.json_api.lazy_rule import LazyRule


async def test_addresses_are_built_when_one_is_asked_for(service: Service) -> None:
    """As Werkzeug's own rules build them, with a query of what the path has no place for."""
    ours = [rule for rule in service.api.url_map.iter_rules() if isinstance(rule, LazyRule)]
    assert len(ours) > 100
    for rule in ours:
        values = dict.fromkeys(rule.arguments, "a b") | {"more": "c&d"}
        usual = Rule(rule.rule, rule.defaults, endpoint=rule.endpoint, methods=rule.methods)
        usual.bind(service.api.url_map, rebind=True)
        for append_unknown in (True, False):
            assert rule.build(values, append_unknown) == usual.build(values, append_unknown)


def test_what_builds_addresses_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not before the first address, and not again for the next: a page has a hundred of them."""
    compiled: list[bool] = []
    usual = Rule._compile_builder

    def counted(rule: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled.append(append_unknown)
        return usual(rule, append_unknown)

    monkeypatch.setattr(Rule, "_compile_builder", counted)
    addresses = Map([LazyRule("/links/<link_id>", endpoint="link")]).bind("localhost")
    assert not compiled
    assert [addresses.build("link", {"link_id": name}) for name in "ab"] == ["/links/a", "/links/b"]
    assert len(compiled) == 1


async def test_no_route_for_files_that_are_not_there(service: Service) -> None:
    """Every route of the API is one that somebody wrote: the framework adds none for a folder of its own."""
    assert not service.api.has_static_folder
    assert "static" not in service.api.view_functions
