"""/attribution/sale: why a single sale is credited as it is.

Who opens it: whoever doubts a figure of the attribution, or asks which of two campaigns an order belongs to.
They come from a link's sales, or with an order's number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from quart import Response, request

from backend.dashboard.analytics.attribution import CREDIT_CHOICES, CREDITS, MODELS
from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.input import parse_rules
from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId
from backend.domain.sales.credit_rules import CreditRules, CreditTo, Model
from backend.domain.sales.explanation import CreditStep, StepKind, Verdict, percent, touch_in_words
from backend.domain.visitors.attribution import Touch
from backend.domain.visitors.call_texts import as_stored
from backend.storage.sales.sale_explanation import ExplainedSale, explain_sale
from backend.web.current import resources

_NAMES = {
    StepKind.IDENTITY: "The device is identified",
    StepKind.IDENTITY_TAKEN_BACK: "An identity is taken back",
    StepKind.DIRECT_VISIT: "A visit from nowhere",
    StepKind.SALE: "The sale",
}


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step as the page shows it. `gets` is what it has of the revenue, if it has any."""

    at: str
    name: str
    in_words: str
    gets: str
    link_id: LinkId | None
    is_sale: bool


@dataclass(frozen=True, slots=True)
class ModelRow:
    """What one model says, by device and by customer: each touch with its part of the sale."""

    name: str
    credits: Sequence[Sequence[str]]
    is_asked: bool


@dashboard.get("/attribution/sale")
@needs(Permission.ANALYTICS_READ, Permission.PERSONS_READ)
async def attribution_sale() -> Response:
    """The sale of the order in the address, step by step; without one, a form that asks for it."""
    order = as_stored(request.args.get("order", ""))
    rules = _rules_of_request()
    database, now = resources().database, resources().clock()
    sale = await explain_sale(database, org_id(), order, rules, now) if order else None
    return await page(
        "analytics/sale.html",
        404 if order and sale is None else 200,
        order=order,
        sale=sale,
        rules=rules,
        rows=_rows(sale, zone_of_browser()) if sale else [],
        models=_model_rows(sale) if sale else [],
        paid=_amounts(sale) if sale else "",
        zone=zone_of_browser(),
        choices=CREDIT_CHOICES,
    )


def _rules_of_request() -> CreditRules:
    """The rules in the address; where they break a rule, those that hold by themselves."""
    names = ("credit", "model", "lookback_days")
    fields: dict[str, object] = {name: value for name in names if (value := request.args.get(name))}
    days = str(fields.get("lookback_days", ""))
    if days:
        fields["lookback_days"] = int(days) if days.isdecimal() and len(days) < len("100000") else 0
    try:
        return parse_rules(fields)
    except InvalidField:
        return CreditRules()


def _rows(sale: ExplainedSale, zone: ZoneInfo) -> list[StepRow]:
    return [_row(step, sale, zone) for step in sale.explanation.steps]


def _row(step: CreditStep, sale: ExplainedSale, zone: ZoneInfo) -> StepRow:
    link_id = step.touch.link_id if step.touch and step.touch.link_id in sale.links else None
    paid = sale.explanation.verdict.amount
    gets = f"{sale.amount(step.share.part * paid):f} {sale.currency}" if step.share else ""
    return StepRow(
        at=f"{step.at.astimezone(zone):%-d %b %Y, %H:%M:%S}",
        name=_name(step, sale),
        in_words=step.in_words,
        gets=gets,
        link_id=link_id,
        is_sale=step.kind is StepKind.SALE,
    )


def _name(step: CreditStep, sale: ExplainedSale) -> str:
    if step.touch:
        return _touch(step.touch, sale)
    if step.refund is not None:
        refund = sale.refunds[step.refund]
        return f"{refund.amount:f} {refund.currency} are paid back ({refund.refund_id})"
    return _NAMES[step.kind]


def _touch(touch: Touch | None, sale: ExplainedSale) -> str:
    if touch is None:
        return "No touch"
    return touch_in_words(touch, sale.links.get(touch.link_id) if touch.link_id else None)


def _model_rows(sale: ExplainedSale) -> list[ModelRow]:
    """All models, as the attribution names them, by device and by customer."""
    explanation = sale.explanation
    verdicts = {
        (verdict.rules.to, verdict.rules.model): verdict
        for verdict in (explanation.verdict, *explanation.others)
    }
    chosen = explanation.verdict.rules.model
    return [
        ModelRow(
            name, [_shares(verdicts[CreditTo(to), Model(model)], sale) for to in CREDITS], model == chosen
        )
        for model, name in MODELS.items()
    ]


def _shares(verdict: Verdict, sale: ExplainedSale) -> list[str]:
    return [f"{percent(share.part)}: {_touch(share.touch, sale)}" for share in verdict.shares]


def _amounts(sale: ExplainedSale) -> str:
    """What was paid, and what of it was paid back."""
    paid = f"{sale.revenue:f} {sale.currency}"
    return f"{paid}, of which {sale.refunded:f} were paid back" if sale.refunded else paid
