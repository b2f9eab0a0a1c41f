"""The fields for how QR codes look, in a form or in the address of a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backend.dashboard.links.editing.form import Fields, Problems
from backend.domain.errors import InvalidField
from backend.domain.ids import OrgId
from backend.domain.links.qr_style import STYLE_FIELDS, QrStyle, style_of
from backend.storage.links.qr_logos import find_logo
from backend.web.current import resources

# `text` is called otherwise here: other forms have a field of that name and another label.
_NAMES = {"color": "color", "background": "background", "text": "qr_text"}
_LOGO = "logo"


@dataclass(frozen=True, slots=True)
class SentStyle:
    """What was sent, the style of it, the logo, and what is wrong with some of the fields."""

    fields: Fields
    style: QrStyle
    logo: bytes | None
    problems: Problems


async def read_style(sent: Mapping[str, str], org_id: OrgId) -> SentStyle:
    """The style in these fields; black on white where there are none."""
    texts = {name: sent.get(field, "").strip() for name, field in _NAMES.items()}
    fields = {field: texts[name] for name, field in _NAMES.items()}
    fields = {"color": "#000000", "background": "#ffffff"} | {k: v for k, v in fields.items() if v}
    fields |= {"qr_text": texts["text"], _LOGO: "true" if sent.get(_LOGO) else ""}
    problems: Problems = {}
    values = {}
    for name, text in texts.items():
        try:
            if text:
                values[name] = STYLE_FIELDS[name].parse(name, text)
        except InvalidField as error:
            problems[_NAMES[name]] = error.rule
    style = QrStyle()
    try:
        style = style_of(values)
    except InvalidField as error:
        problems.setdefault(_NAMES[error.field], error.rule)
    logo = await find_logo(resources().database, org_id) if fields[_LOGO] else None
    return SentStyle(fields, style, logo, problems)
