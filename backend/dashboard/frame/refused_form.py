"""The page in the place of a form that was not carried out: what was typed is kept, and can be sent again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quart import Response, request, url_for

from backend.dashboard.frame.blueprint import FormOfAnother, dashboard, secure, user
from backend.dashboard.frame.form import FORM_TOKEN, KEPT_FORM, field, form
from backend.dashboard.frame.labels import LABELS
from backend.dashboard.frame.once import ONCE
from backend.dashboard.frame.page import page
from backend.dashboard.frame.page_before import page_before
from backend.dashboard.frame.saw import SAW, OutdatedForm, hashes_of, sent_text
from backend.dashboard.frame.session_cookie import cookie_token
from backend.domain.accounts.sessions import form_token
from backend.storage.accounts.organizations import find_organizations
from backend.web.current import resources

# Fields that no page shows, and whose texts no page holds: they are typed again.
_SECRETS = ("password", "client_secret")
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class KeptField:
    """A field that was typed, and what is stored in it where that was compared."""

    label: str
    typed: str
    stored: str = ""


@dashboard.errorhandler(FormOfAnother)
async def _of_another(refused: FormOfAnother) -> Response:
    organizations = await find_organizations(resources().database, user().org_ids)
    names = {organization.id: organization.name for organization in organizations}
    typed = {name: value.strip() for name, value in form().items() if name not in {SAW, ONCE, KEPT_FORM}}
    return await _refused(
        [KeptField(_label(name), _short(name, value)) for name, value in typed.items() if value],
        written_for=names.get(refused.org_id),
        hidden=_held() | {FORM_TOKEN: form_token(cookie_token(), refused.org_id)},
        is_of_another=True,
        back=url_for("dashboard.home"),  # the page with the form may be about what only the other one has
    )


@dashboard.errorhandler(OutdatedForm)
async def _changed(changed: OutdatedForm) -> Response:
    return await _refused(
        [
            KeptField(_label(name), _short(name, sent_text(name)), _short(name, value))
            for name, value in changed.stored.items()
            if sent_text(name) != value.strip()
        ],
        hidden={name: value for name, value in _held().items() if name != SAW},
        saw_now=hashes_of(changed.stored),
        is_of_another=False,
        back=page_before(),
    )


def _held() -> dict[str, str]:
    """What the page holds to be sent again."""
    return {name: value for name, value in form().items() if name not in _SECRETS}


def _label(name: str) -> str:
    return LABELS.get(name) or name.replace("_", " ").replace("-", " ").capitalize()


def _short(name: str, value: str) -> str:
    """A value as the page shows it."""
    if value and name in _SECRETS:
        return "••••"
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"


async def _refused(fields: list[KeptField], **values: Any) -> Response:
    answer = await page(
        "frame/refused_form.html",
        409,
        action=request.full_path.removesuffix("?"),
        fields=fields,
        secrets={name: _label(name) for name in _SECRETS if field(name)},
        kept_form=KEPT_FORM,
        **values,
    )
    return await secure(answer)
