"""/links/ID/rules: the rules that lead some visitors elsewhere. They are shown, changed, sorted and tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quart import Response, abort, request

from backend.dashboard.frame.blueprint import dashboard, needs
from backend.dashboard.frame.form import digest_of, field
from backend.dashboard.frame.labels import LABELS
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.dashboard.links.editing.change import store_changes
from backend.dashboard.links.editing.own_link import own_link, short_url_of
from backend.dashboard.links.editing.rule_form import (
    DAY_TICKS,
    EMPTY,
    VARIANT_LABELS,
    Fields,
    field_of,
    fields_of_rule,
    fields_of_test,
    rule_of,
    sent_rule_fields,
)
from backend.dashboard.links.editing.rule_trial import Trial, try_rules
from backend.dashboard.links.editing.rule_variants import COLUMNS, splits_of
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import FieldError
from backend.domain.ids import LinkId
from backend.domain.links.input import CHANGE_FIELDS, parse_changes
from backend.domain.links.links import Link
from backend.domain.links.operations import LinkChangedMeanwhile
from backend.domain.links.rules.input import MOST_VARIANTS
from backend.domain.links.rules.words import WEEKDAYS, condition_in_words, outcome_in_words
from backend.web.current import resources

RuleBodies = list[dict[str, Any]]
_CHANGED = "The rules were changed by somebody else meanwhile. Look at them again; nothing was changed."


@dataclass(frozen=True, slots=True)
class RuleWords:
    """A rule as a sentence in two parts."""

    condition: str
    outcome: str


@dataclass(frozen=True, slots=True)
class _Form:
    """The form for a rule: a new one, or the one at this place (from 0)."""

    place: int | None
    fields: Fields
    problems: dict[str, str]


@dashboard.get("/links/<link_id>/rules")
@needs(Permission.LINKS_WRITE)
async def links_rules(link_id: LinkId) -> Response:
    """The rules as sentences, the form for one rule, and the result of a trial with a made-up visitor."""
    link = await own_link(link_id)
    place = _place(request.args.get("edit", ""), link.rules)
    fields = EMPTY if place is None else fields_of_rule(link.rules[place])
    if place is None and "test" in request.args:
        fields = fields_of_test(link.destination_url)
    trial = try_rules(link, request.args, resources().clock()) if "try_platform" in request.args else None
    return await _page(link, _Form(place, fields, {}), trial=trial)


@dashboard.post("/links/<link_id>/rules")
@needs(Permission.LINKS_WRITE)
async def links_rules_save(link_id: LinkId) -> Response:
    """Add a rule behind the others, or change the one at `place`."""
    link = await own_link(link_id)
    fields, place = sent_rule_fields(), _place(field("place"), link.rules)
    if field("seen") != digest_of(link.rules):
        return await _changed(link)
    try:
        rule = rule_of(fields)
        before, after = (link.rules, []) if place is None else (link.rules[:place], link.rules[place + 1 :])
        await _store(link, [*before, rule, *after])
    except FieldError as error:
        problems = {field_of(wrong, fields): wrong.rule for wrong in error.every}
        return await _page(link, _Form(place, fields, problems))
    except LinkChangedMeanwhile:
        return await _changed(await own_link(link_id))
    return redirect_with_notice("links_rules", "rules-changed", link_id=link.id)


@dashboard.post("/links/<link_id>/rules/order")
@needs(Permission.LINKS_WRITE)
async def links_rules_order(link_id: LinkId) -> Response:
    """Move the rule at `place` up or down by one, or remove it."""
    link = await own_link(link_id)
    if field("seen") != digest_of(link.rules):
        return await _changed(link)
    place = _place(field("place"), link.rules)
    if place is None:
        abort(400)
    rules = list(link.rules)
    rule = rules.pop(place)
    match field("action"):
        case "up":
            rules.insert(max(0, place - 1), rule)
        case "down":
            rules.insert(place + 1, rule)
        case "remove":
            pass
        case _:
            abort(400)
    try:
        await _store(link, rules)
    except LinkChangedMeanwhile:
        return await _changed(await own_link(link_id))
    return redirect_with_notice("links_rules", "rules-changed", link_id=link.id)


def words_of(link: Link) -> list[RuleWords]:
    """The link's rules as sentences."""
    return [RuleWords(condition_in_words(rule), outcome_in_words(rule)) for rule in link.rules]


async def _store(link: Link, rules: RuleBodies) -> None:
    await store_changes(link, parse_changes({"rules": rules}, CHANGE_FIELDS), {"rules": link.rules})


async def _changed(link: Link) -> Response:
    """The page with the rules as they are now. Somebody changed them since the sender loaded the page."""
    return await _page(link, _Form(None, EMPTY, {}), problem=_CHANGED)


async def _page(link: Link, form: _Form, *, trial: Trial | None = None, problem: str = "") -> Response:
    return await page(
        "links/rules.html",
        409 if problem else 422 if form.problems else 200,
        link=link,
        short_url=short_url_of(link),
        rules=words_of(link),
        seen=digest_of(link.rules),
        place=form.place,
        fields=form.fields,
        problems=form.problems,
        day_ticks=dict(zip(DAY_TICKS, WEEKDAYS, strict=True)),
        trial=trial,
        tried=request.args,
        last=next((number for number, rule in enumerate(link.rules, 1) if not rule["if"]), None),
        splits=await splits_of(link, resources().clock()),
        variant_columns=COLUMNS,
        variant_rows=range(MOST_VARIANTS),
        labels=LABELS | VARIANT_LABELS,
        problem=problem,
    )


def _place(text: str, rules: Sequence[object]) -> int | None:
    """The place of an existing rule, from 0; None for any other text."""
    is_number = text.isascii() and text.isdecimal() and len(text) < 4
    return int(text) if is_number and int(text) < len(rules) else None
