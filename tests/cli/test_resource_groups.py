"""The groups of commands that follow from resources."""

from __future__ import annotations

import json

import click
import pytest

from backend.cli import resource_groups
from backend.domain.all_resources import RESOURCES
from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess
from tests.resources.examples import EXAMPLES, LINK

GROUPS = [name for name, group in vars(resource_groups).items() if isinstance(group, click.Group)]


@pytest.mark.parametrize("group", GROUPS)
def test_things_are_added_listed_and_removed(running: ServiceProcess, org_id: OrgId, group: str) -> None:
    """What is added is listed until it is removed; what is not there is told."""
    of = ("--org", org_id)
    (listed,) = running.command(group, "list", *of)
    (resource,) = (resource for resource in RESOURCES if resource.rest.listed == listed)
    options = []
    for name, own in resource.fields.items():
        value = EXAMPLES[resource.collection].new.get(name)
        if own.option and value != LINK:
            options += [own.option.name, json.dumps(value) if own.option.is_json else str(value)]
    added = running.command(group, "add", *of, *options)
    assert running.command(group, "list", *of) == {listed: [added]}
    assert running.command(group, "remove", added["id"], *of)["removed"]
    assert running.command(group, "list", *of) == {listed: []}
    assert f"no such {resource.one}" in running.refusal(group, "remove", added["id"], *of)
    for own in resource.fields.values():
        if own.option and own.option.is_json:
            name = own.option.name
            assert f"{name} must be JSON" in running.refusal(group, "add", *of, *options, name, "{")
        if own.option and own.is_required:
            name = own.option.name
            assert f"{name} must" in running.refusal(group, "add", *of, *options, name, "")
    assert running.command(group, "list", *of) == {listed: []}


def test_what_is_wrong_names_its_option(running: ServiceProcess, org_id: OrgId) -> None:
    """A text that breaks a rule is refused by the name of its option; filters of a list hold."""
    of = ("--org", org_id)
    note = ("annotation", "add", *of, "--text", "x", "--at")
    assert "--at must be a date" in running.refusal(*note, "soon")
    assert running.command(*note, "2026-03-02")["created_by"] == "person"
    assert running.command("annotation", "list", *of, "--from", "2026-03-03") == {"annotations": []}
    assert "--link must be a UUID" in running.refusal("annotation", "list", *of, "--link", "x")
