"""The section of a link's form about its limits. Times are typed in the time zone of the browser."""

from __future__ import annotations

from typing import Any

from backend.dashboard.analytics.time_zone import with_zone, zone_of_browser, zone_of_form
from backend.dashboard.frame.form import field, form
from backend.dashboard.links.editing.form import Fields, Problems
from backend.domain.errors import InvalidField
from backend.domain.links.limits import LIMIT_FIELDS, LIMIT_TIMES
from backend.domain.links.links import Link

_TEXT_FIELDS = (*LIMIT_TIMES, "max_clicks", "expired_url")
_CONTINUE = "click_to_continue"  # a box: "true", or ""
# The form's fields for the time zone in which it was shown, and for whether the link asks for a password.
_ZONE, _HAS_PASSWORD = "limits_zone", "has_password"
# They only say how others are shown: a change leaves a password as it is.
NOT_STORED = (_ZONE, _HAS_PASSWORD)
_TIME_FORMAT = "%Y-%m-%dT%H:%M:%S"


def empty_limits() -> Fields:
    """The fields of a link without limits."""
    return {**dict.fromkeys((*_TEXT_FIELDS, _CONTINUE), ""), _ZONE: zone_of_browser().key, _HAS_PASSWORD: ""}


def limits_of(link: Link) -> Fields:
    """The text of each field for an existing link. A password is never shown, only that there is one."""
    limits, zone = link.limits, zone_of_form(_ZONE)
    texts = {name: str(getattr(limits, name) or "") for name in ("max_clicks", "expired_url")}
    times = {
        name: time.astimezone(zone).strftime(_TIME_FORMAT)
        for name in LIMIT_TIMES
        if (time := getattr(limits, name))
    }
    flags = {_CONTINUE: limits.click_to_continue, _HAS_PASSWORD: limits.password_hash is not None}
    boxes = {name: "true" if flag else "" for name, flag in flags.items()}
    return empty_limits() | texts | times | {_ZONE: zone.key} | boxes


def sent_limits(link: Link | None = None) -> Fields:
    """The text of each field from the current request, to be shown again. `link` is the one to change."""
    has_password = "true" if link and link.limits.password_hash else ""
    sent = {name: field(name) for name in (*_TEXT_FIELDS, _CONTINUE)}
    return sent | {_ZONE: zone_of_form(_ZONE).key, _HAS_PASSWORD: has_password}


def read_limits(fields: Fields) -> tuple[dict[str, Any], Problems]:
    """The limits in the body for the REST API, and the error of each invalid field.

    An empty field takes its limit away, but for the password: that is kept, unless its removal is asked for.
    """
    values: dict[str, object] = {name: _value(name, fields[name]) for name in _TEXT_FIELDS}
    values[_CONTINUE] = fields[_CONTINUE] == "true" and values["max_clicks"] is not None
    if form().get("remove_password"):
        values["password"] = None
    elif password := form().get("password"):
        values["password"] = password
    problems: Problems = {}
    for name, value in values.items():
        try:
            if value is not None:
                LIMIT_FIELDS[name].parse(name, value)
        except InvalidField as error:
            problems[name] = "must be a date and a time" if name in LIMIT_TIMES else error.rule
    return values, problems


def _value(name: str, text: str) -> object:
    if not text:
        return None
    if name in LIMIT_TIMES:
        return with_zone(text, zone_of_form(_ZONE))
    is_number = name == "max_clicks" and text.isascii() and text.isdecimal() and len(text) < 20
    return int(text) if is_number else text
