"""GET /conversions/{transaction_id}/explain (docs/rest-api.md, "Why a sale is whose")."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.input import CREDIT_FIELDS, parse_rules
from backend.domain.errors import FieldError
from backend.domain.fields.times.json_times import exact_time_json
from backend.domain.sales.credit import CreditShare
from backend.domain.sales.explanation import CreditStep, Verdict, touch_in_words
from backend.domain.sales.refunds import Refund
from backend.domain.visitors.attribution import Touch
from backend.domain.visitors.call_texts import as_stored
from backend.domain.web.short_urls import ShortUrlForm
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.analytics.query import EXPORT_QUERY
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import PathParameter
from backend.rest_api.routes.query_string import error_in_query
from backend.storage.sales.sale_explanation import ExplainedSale, explain_sale
from backend.web.current import resources

_TRANSACTION_ID = PathParameter(
    "transaction_id",
    {"type": "string", "minLength": 1},
    "The order's id, as it was told.",
    errors=(error_table.SALE_NOT_FOUND,),
)
_DIGITS_OF_PART = 6  # behind the point, of a touch's part of the sale


@Operation(
    method="GET",
    path="/conversions/<path:transaction_id>/explain",
    summary="Explain whose a sale is: what led to its credit, in order and in words, and what other "
    "models say",
    needs=(Permission.ANALYTICS_READ, Permission.PERSONS_READ),
    path_parameter=_TRANSACTION_ID,
    query={name: EXPORT_QUERY[name] for name in CREDIT_FIELDS},
    answer="ExplainedSale",
)
async def explain_conversion(transaction_id: str, query: dict[str, Any]) -> dict[str, Any]:
    """What led to the credit of a sale, in order and in words, and what other models say."""
    try:
        rules = parse_rules(query)
    except FieldError as error:
        raise error_in_query(error) from None
    database, now = resources().database, resources().clock()
    sale = await explain_sale(database, caller().org_id, as_stored(transaction_id), rules, now)
    if sale is None:
        raise ApiError(error_table.SALE_NOT_FOUND)
    return _ExplainedSaleJson(sale, resources().short_url_form).whole()


class _ExplainedSaleJson:
    """The JSON of an explained sale."""

    def __init__(self, sale: ExplainedSale, form: ShortUrlForm) -> None:
        self._sale = sale
        self._form = form

    def whole(self) -> dict[str, Any]:
        sale, explanation = self._sale, self._sale.explanation
        left_out = explanation.left_out
        return {
            "id": sale.id,
            "transaction_id": sale.transaction_id,
            "at": exact_time_json(sale.at),
            "received_at": exact_time_json(sale.received_at),
            "device_id": sale.device_id,
            "customer_id": explanation.verdict.customer_id,
            "currency": sale.currency,
            "revenue": f"{sale.revenue:f}",
            "refunds": f"{sale.refunded:f}",
            "net_revenue": f"{sale.revenue - sale.refunded:f}",
            "steps": [self._step(step) for step in explanation.steps],
            **self._verdict(explanation.verdict),
            "others": [self._verdict(verdict) for verdict in explanation.others],
            "notes": [f"{left_out} older steps without credit are left out."] if left_out else [],
        }

    def _verdict(self, verdict: Verdict) -> dict[str, Any]:
        rules = verdict.rules
        return {
            "rules": {
                "credit": rules.to.value,
                "model": rules.model.value,
                "lookback_days": rules.lookback_days,
                "as_of": exact_time_json(rules.as_of) if rules.as_of else None,
                "in_words": rules.in_words,
            },
            "shares": [
                self._share(share, verdict) | {"touch": self._touch(share.touch)} for share in verdict.shares
            ],
        }

    def _share(self, share: CreditShare[Touch], verdict: Verdict) -> dict[str, Any]:
        amount, part = self._sale.amount, share.part
        return {
            "part": round(float(part), _DIGITS_OF_PART),
            "revenue": f"{amount(part * verdict.amount):f}",
            "refunds": f"{amount(part * verdict.refunded):f}",
            "net_revenue": f"{amount(part * (verdict.amount - verdict.refunded)):f}",
        }

    def _step(self, step: CreditStep) -> dict[str, Any]:
        refund = None if step.refund is None else self._sale.refunds[step.refund]
        return {
            "kind": step.kind.value,
            "at": exact_time_json(step.at),
            "in_words": step.in_words,
            "device_id": step.device_id,
            "customer_id": step.customer_id,
            "touch": self._touch(step.touch),
            "share": self._share(step.share, self._sale.explanation.verdict) if step.share else None,
            "refund": _refund(refund) if refund else None,
        }

    def _touch(self, touch: Touch | None) -> dict[str, Any] | None:
        if touch is None:
            return None
        link = self._sale.links.get(touch.link_id) if touch.link_id else None
        return {
            "at": exact_time_json(touch.at),
            "link_id": touch.link_id,
            "link_name": link.link_name if link else None,
            "short_url": self._form.write(link.domain, link.path) if link else None,
            "variant": touch.variant,
            "utm": touch.utm,
            "click_ids": list(touch.click_ids),
            "click": self._click(touch),
            "in_words": touch_in_words(touch, link),
        }

    def _click(self, touch: Touch) -> dict[str, Any] | None:
        click = self._sale.clicks.get(touch.click) if touch.click else None
        if click is None:
            return None
        names = ("country", "platform", "system", "browser", "referrer_host", "variant")
        return {"at": exact_time_json(click.at), **{name: getattr(click, name) or None for name in names}}


def _refund(refund: Refund) -> dict[str, Any]:
    """A refund as it was told; its currency need not be the sale's."""
    return {"refund_id": refund.refund_id, "amount": f"{refund.amount:f}", "currency": refund.currency}
