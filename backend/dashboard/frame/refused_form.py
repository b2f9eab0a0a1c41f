"""The page in the place of a form that was not carried out: what was typed is kept, and can be sent again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from quart import Response, request, url_for

from backend.dashboard.frame.blueprint import FormOfAnother, dashboard, secure, user
from backend.dashboard.frame.form import FORM_TOKEN, KEPT_FORM, field, form
from backend.dashboard.frame.labels import LABELS
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import SAW, OutdatedForm, field_of, hashes_of
from backend.dashboard.frame.session_cookie import cookie_token
from backend.domain.accounts.sessions import form_token
from backend.storage.accounts.organizations import find_organizations
from backend.web.current import resources

_SECRET = ("password", "secret")
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class KeptField:
    """A field that was typed, and what is stored in it; None where that was not compared."""

    label: str
    typed: str
    stored: str | None


@dashboard.errorhandler(FormOfAnother)
async def _of_another(refused: FormOfAnother) -> Response:
    organizations = await find_organizations(resources().database, user().org_ids)
    names = {organization.id: organization.name for organization in organizations}
    return await _refused(
        _kept({}),
        written_for=names.get(refused.org_id),
        hidden=dict(form()) | {FORM_TOKEN: form_token(cookie_token(), refused.org_id)},
        is_of_another=True,
    )


@dashboard.errorhandler(OutdatedForm)
async def _changed(changed: OutdatedForm) -> Response:
    typed = _kept(changed.stored)
    differing = [kept for kept in typed if kept.stored is not None and kept.stored != kept.typed]
    return await _refused(
        differing,
        hidden={name: value for name, value in form().items() if name != SAW},
        saw_now=hashes_of(changed.stored),
        is_of_another=False,
    )


def _kept(stored: Mapping[str, str]) -> list[KeptField]:
    """What somebody typed, beside what is stored where that was compared."""
    sent = {name: value.strip() for name, value in form().items() if name not in {SAW, KEPT_FORM}}
    if not stored:
        return [KeptField(_label(name), _short(name, value), None) for name, value in sent.items() if value]
    return [
        KeptField(_label(field_of(name)), _short(name, field(field_of(name))), _short(name, value))
        for name, value in stored.items()
    ]


def _label(name: str) -> str:
    return LABELS.get(name) or name.replace("_", " ").replace("-", " ").capitalize()


def _short(name: str, value: str) -> str:
    """A value as the page shows it. Passwords and the like are not shown."""
    if value and any(word in name for word in _SECRET):
        return "••••"
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"


async def _refused(fields: list[KeptField], **values: Any) -> Response:
    answer = await page(
        "frame/refused_form.html",
        409,
        action=request.full_path.removesuffix("?"),
        fields=fields,
        back=_page_before(),
        kept_form=KEPT_FORM,
        **values,
    )
    return await secure(answer)


def _page_before() -> str:
    """The path of the page with the form, as the browser tells it."""
    came_from = urlsplit(request.headers.get("Referer", ""))
    is_ours = came_from.netloc == request.host and came_from.path.startswith("/")
    query = f"?{came_from.query}" if came_from.query else ""
    return f"{came_from.path}{query}" if is_ours else url_for("dashboard.home")
