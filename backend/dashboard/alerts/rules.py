"""/alerts/new and /alerts/ID: the forms of alert rules, with what a rule would have sent."""

from __future__ import annotations

from dataclasses import replace

from quart import Response, abort, request

from backend.dashboard.alerts.form import (
    LABELS,
    Fields,
    Problems,
    add_problems,
    fields_of,
    kind_of,
    mail_name,
    new_fields,
    read_changes,
    read_new,
    rule_fields,
    sent_addresses,
    sent_fields,
)
from backend.dashboard.alerts.previews import preview_of
from backend.dashboard.alerts.shown import MEANINGS, ShownPreview, ShownRule, shown_rule
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.labels import LABELS as ALL_LABELS
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import of_stored
from backend.domain.accounts.permissions import Permission
from backend.domain.alerts.input import check_change
from backend.domain.alerts.rule import OF_ORGANIZATION, AlertKind, AlertRule
from backend.domain.alerts.thresholds import THRESHOLDS
from backend.domain.alerts.words import KIND_NAMES
from backend.domain.errors import FieldError
from backend.domain.fields.time_zones import place_names
from backend.domain.ids import AlertRuleId
from backend.domain.mail.language import Language
from backend.mail.numbers import language_name
from backend.storage.accounts.users.users import list_users
from backend.storage.alerts.rules import (
    change_rule,
    create_rule,
    delete_rule,
    drafted_rule,
    get_rule,
    tag_names_of,
)
from backend.storage.alerts.sources import AlertSources
from backend.storage.driver.deadlines import lift_deadline
from backend.storage.links.links import find_links
from backend.storage.links.tags import list_tags
from backend.web.current import resources

_REHEARSE = "rehearse"
# All addresses as one text: each has a box in the form, and a box that is not ticked is not sent.
_MAIL_TO = "mail_to"


async def _stored(rule_id: AlertRuleId) -> Fields:
    rule = await get_rule(resources().database, org_id(), rule_id)
    return rule_fields(rule) | {_MAIL_TO: ", ".join(sorted(rule.mail_to))}


@dashboard.get("/alerts/new")
@needs(Permission.ANALYTICS_WRITE)
async def alerts_new() -> Response:
    """The kinds to choose from, or the form for a new rule of the kind in the address."""
    kind = kind_of(request.args.get("kind", ""))
    if kind:
        return await _form(kind, new_fields(kind), {})
    choices = [(kind.value, KIND_NAMES[kind], words) for kind, words in MEANINGS.items()]
    about = {name: text for name in ("link", "tag") if (text := request.args.get(name, "")[:2048])}
    return await page("alerts/kinds.html", choices=choices, about=about)


@dashboard.post("/alerts")
@needs(Permission.ANALYTICS_WRITE)
@once
async def alerts_add() -> Response:
    """Make a rule, or only say what it would have sent."""
    kind = kind_of(field("kind"))
    if kind is None:
        abort(400)
    people = await list_users(resources().database, org_id())
    fields, problems = sent_fields(kind, people), Problems()
    values = await read_new(kind, fields, problems)
    preview = None
    if not problems:
        try:
            if field("action") == _REHEARSE:
                now = resources().clock()
                draft = await drafted_rule(resources().database, org_id(), values, now)
                preview = await _preview(draft)
            else:
                await create_rule(resources().database, org_id(), values, resources().clock())
                return redirect_with_notice("alerts", "alert-rule-made")
        except FieldError as error:
            add_problems([error], problems)
    return await _form(kind, fields, problems, preview=preview)


@dashboard.get("/alerts/<rule_id>")
@needs(Permission.ANALYTICS_WRITE)
@of_stored(_stored)
async def alerts_rule(rule_id: AlertRuleId) -> Response:
    """The form with the rule's fields, and what it would have sent."""
    rule = await get_rule(resources().database, org_id(), rule_id)
    return await _form(rule.kind, fields_of(rule), {}, rule=rule, preview=await _preview(rule))


@dashboard.post("/alerts/<rule_id>")
@needs(Permission.ANALYTICS_WRITE)
@of_stored(_stored, lambda: {_MAIL_TO: ", ".join(sorted(sent_addresses()))})
async def alerts_change(rule_id: AlertRuleId) -> Response:
    """Change the rule, or only say what it would have sent then."""
    rule = await get_rule(resources().database, org_id(), rule_id)
    people = await list_users(resources().database, org_id())
    fields, problems = sent_fields(rule.kind, people), Problems()
    changes = read_changes(rule, fields, problems)
    preview = None
    if not problems:
        try:
            if field("action") == _REHEARSE:
                preview = await _preview(replace(rule, **check_change(rule, changes)))
            else:
                await change_rule(resources().database, org_id(), rule_id, changes)
                return redirect_with_notice("alerts", "alert-rule-changed")
        except FieldError as error:
            add_problems([error], problems)
    return await _form(rule.kind, fields, problems, rule=rule, preview=preview)


@dashboard.post("/alerts/<rule_id>/delete")
@needs(Permission.ANALYTICS_WRITE)
async def alerts_delete(rule_id: AlertRuleId) -> Response:
    """Delete the rule; what it has told of stays."""
    await delete_rule(resources().database, org_id(), rule_id)
    return redirect_with_notice("alerts", "alert-rule-deleted")


async def _preview(rule: AlertRule) -> ShownPreview:
    lift_deadline()  # figures may take longer than what else a form does
    sources = AlertSources(resources().database, resources().analytics, org_id(), resources().clock())
    return await preview_of(sources, rule)


async def _form(
    kind: AlertKind,
    fields: Fields,
    problems: Problems,
    *,
    rule: AlertRule | None = None,
    preview: ShownPreview | None = None,
) -> Response:
    database = resources().database
    tags = [tag.name for tag in await list_tags(database, org_id())]
    return await page(
        "alerts/form.html",
        422 if problems else 200,
        fields=fields,
        problems=problems,
        kind=kind.value,
        kind_name=KIND_NAMES[kind],
        meaning=MEANINGS[kind],
        thresholds=[(name, LABELS[name], threshold.meaning) for name, threshold in THRESHOLDS[kind].items()],
        has_scope=kind not in OF_ORGANIZATION,
        people=[(mail_name(person), person.email) for person in await list_users(database, org_id())],
        tag_options=[("", "All links"), *((name, name) for name in tags)],
        languages=[(language.value, language_name(language)) for language in Language],
        zones=place_names(),
        settings=resources().settings,
        preview=preview,
        labels=ALL_LABELS | LABELS,
        shown=await _shown(rule) if rule else None,
    )


async def _shown(rule: AlertRule) -> ShownRule:
    database = resources().database
    links = await find_links(database, [rule.link_id] if rule.link_id else [], org_id())
    return shown_rule(rule, await tag_names_of(database, org_id(), [rule]), links)
