"""`waylink alerts`: what was told of, the rules, and what they would have sent in the last seven days."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

from backend.cli.analytics.client import analytics_client
from backend.cli.command import CommandResult, stored, stored_and_shown
from backend.cli.options import org_option, with_options
from backend.cli.printable import printable
from backend.cli.refused_field import RefusedField
from backend.cli.table import table
from backend.domain.alerts.input import NEW_FIELDS
from backend.domain.alerts.json_form import alert_json, preview_json, rule_json
from backend.domain.alerts.rule import AlertKind, AlertRule
from backend.domain.errors import FieldError, ItemUnknown, TooManyItems, raise_all
from backend.domain.fields.rules import parse_fields
from backend.domain.ids import OrgId
from backend.domain.mail.language import Language
from backend.storage.accounts.organizations import get_organization
from backend.storage.alerts import rules
from backend.storage.alerts.alerts import list_alerts
from backend.storage.alerts.sources import AlertSources
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now

_MOST_LISTED = 100
_KINDS = click.Choice([kind.value for kind in AlertKind])
# What is asked of a rule besides its kind.
_ABOUT = (
    click.option("--link", "link_id", metavar="ID", help="Only of this link."),
    click.option("--tag", metavar="NAME", help="Only of links with this tag."),
    click.option(
        "--threshold",
        "thresholds",
        multiple=True,
        metavar="NAME=NUMBER",
        help="From which number on it is told, as least=50 (docs/alerts.md).  [default: that of the kind]",
    ),
)


def _about(command: Any) -> Any:
    return with_options(command, _ABOUT)


@click.group()
def alerts() -> None:
    """Alerts: what needs a look now, and the rules by which it is told."""


@contextmanager
def _alert_errors(org_id: OrgId) -> Iterator[None]:
    """Turn the errors of alert rules in the block into errors of the command."""
    try:
        yield
    except TooManyItems as error:
        raise click.ClickException(
            f"The organization has {error.most:,} alert rules, as many as it may have: remove some first."
        ) from None
    except FieldError as error:
        raise RefusedField(error.field, error.rule) from None
    except ItemUnknown:
        raise click.ClickException(
            f"The organization has no such rule; `waylink alerts rules --org {printable(org_id)}` lists them."
        ) from None


def _alerts_table(result: CommandResult) -> str:
    columns = ("fired_at", "kind", "ended_at", "why")
    return table(columns, [[alert[name] for name in columns] for alert in result["alerts"]])


def _rules_table(result: CommandResult) -> str:
    columns = ("id", "name", "kind", "scope", "is_enabled")
    return table(columns, [[rule[name] for name in columns] for rule in result["alert_rules"]])


def _rehearsal(result: CommandResult) -> str:
    lines = [
        table(("name", "kind", "alerts"), [[r["name"], r["kind"], r["alerts"]] for r in result["rules"]])
    ]
    for rule in result["rules"]:
        lines += [f"{rule['name']}: {finding['why']}" for finding in rule["findings"]]
        lines += [f"{rule['name']}: {rule['note']}"] if rule["note"] else []
    total = sum(rule["alerts"] for rule in result["rules"])
    lines.append(f"In the last 7 days this would have sent {total:,} {'alert' if total == 1 else 'alerts'}.")
    return "\n".join(lines)


@alerts.command("list")
@org_option
@stored_and_shown(_alerts_table)
async def alerts_list(database: Database, org_id: OrgId) -> CommandResult:
    """List the latest hundred alerts."""
    await get_organization(database, org_id)
    return {"alerts": [alert_json(alert) for alert in await list_alerts(database, org_id, _MOST_LISTED)]}


@alerts.command("rules")
@org_option
@stored_and_shown(_rules_table)
async def alerts_rules(database: Database, org_id: OrgId) -> CommandResult:
    """List the alert rules, the oldest first."""
    await get_organization(database, org_id)
    found = await rules.list_rules(database, org_id)
    tags = await rules.tag_names_of(database, org_id, found)
    return {"alert_rules": [rule_json(rule, tags) for rule in found]}


@alerts.command("add")
@org_option
@click.option("--name", required=True)
@click.option("--kind", type=_KINDS, required=True)
@_about
@click.option("--webhooks", is_flag=True, help="Tell webhooks.")
@click.option("--mail-to", multiple=True, metavar="ADDRESS", help="Of who signs in for the organization.")
@click.option("--language", type=click.Choice([language.value for language in Language]), help="Of mails.")
@click.option("--timezone", help="Of mails, as Europe/Berlin.  [default: UTC]")
@stored
async def alerts_add(database: Database, org_id: OrgId, **options: Any) -> CommandResult:
    """Make an alert rule. It is looked after within five minutes."""
    await get_organization(database, org_id)
    with _alert_errors(org_id):
        rule = await rules.create_rule(database, org_id, _fields(options), utc_now())
    return rule_json(rule, await rules.tag_names_of(database, org_id, [rule]))


@alerts.command("remove")
@click.argument("rule_id", metavar="ID")
@org_option
@stored
async def alerts_remove(database: Database, rule_id: str, org_id: OrgId) -> CommandResult:
    """Remove the rule ID. What it has told of stays."""
    with _alert_errors(org_id):
        await rules.delete_rule(database, org_id, rule_id.lower())
    return {"id": rule_id.lower(), "removed": True}


@alerts.command("rehearse")
@org_option
@click.option("--kind", type=_KINDS, help="A rule of this kind.  [default: all rules that there are]")
@_about
@stored_and_shown(_rehearsal)
async def alerts_rehearse(
    database: Database, org_id: OrgId, kind: str | None, **options: Any
) -> CommandResult:
    """Say how many alerts rules would have sent in the last seven days, and why. Sends nothing."""
    await get_organization(database, org_id)
    now = utc_now()
    if kind is None and any(options.values()):
        raise click.UsageError("--link, --tag and --threshold need --kind")
    with _alert_errors(org_id):
        asked = (
            [await rules.drafted_rule(database, org_id, _fields({"name": kind, "kind": kind} | options), now)]
            if kind
            else await rules.list_rules(database, org_id)
        )
    async with analytics_client(database) as analytics:
        sources = AlertSources(database, analytics, org_id, now)
        return {"rules": [await _rehearsed(sources, rule) for rule in asked]}


async def _rehearsed(sources: AlertSources, rule: AlertRule) -> CommandResult:
    return {"name": rule.name, "kind": rule.kind.value} | preview_json(rule, await sources.preview(rule))


def _fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a rule from the options that are given, parsed as over REST. Raises FieldError."""
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    if "mail_to" in given:
        given["mail_to"] = list(given["mail_to"])
    given["thresholds"] = _thresholds(options.get("thresholds", ()))
    errors: list[FieldError] = []
    fields = parse_fields(NEW_FIELDS, given, errors)
    raise_all(errors)
    return fields


def _thresholds(texts: Sequence[str]) -> dict[str, object]:
    pairs = (text.partition("=") for text in texts)
    return {name: int(value) if value.isascii() and value.isdecimal() else value for name, _, value in pairs}
