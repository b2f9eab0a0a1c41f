"""Alerts in words: why they fired, by their figures, in the reader's language and time zone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from backend.domain.alerts.finding import Figures
from backend.domain.alerts.rule import AlertKind
from backend.domain.alerts.texts import TEXTS, found_in
from backend.domain.mail.language import Language

# Makes a text of others fit for where it is shown.
Quote = Callable[[object], str]
KIND_NAMES: Mapping[AlertKind, str] = {kind: TEXTS[Language.EN][kind.value] for kind in AlertKind}


@dataclass(frozen=True, slots=True)
class Reader:
    """Whom an alert is told: their language, their time zone, and what others' texts must be for them."""

    language: Language = Language.EN
    zone: tzinfo = UTC
    quote: Quote = str

    def say(self, name: str, **values: object) -> str:
        """The text of this name. Numbers and times among the values are written as the reader does."""
        return TEXTS[self.language][name].format(
            **{name: self._write(value) for name, value in values.items()}
        )

    def clicks(self, number: int) -> str:
        """So many clicks."""
        return self.say("one_click" if number == 1 else "clicks", number=number)

    def found(self, text: object) -> str:
        """A problem or a reason that the service has found."""
        return self.quote(found_in(self.language, str(text)))

    def _write(self, value: object) -> str:
        if isinstance(value, datetime):
            return self._time(value)
        if isinstance(value, int | float):
            text = f"{value:,.0f}"
            return text.replace(",", ".") if self.language is Language.DE else text
        return str(value)

    def _time(self, at: datetime) -> str:
        local = at.astimezone(self.zone)
        if self.language is Language.DE:
            return f"{local:%d.%m.%Y, %H:%M} Uhr {local:%Z}"
        return f"{local:%H:%M on %-d %b %Y %Z}"


IN_ENGLISH = Reader()


def why(kind: AlertKind, figures: Figures, reader: Reader = IN_ENGLISH) -> str:
    """A sentence that says why an alert of this kind fired, without the link's name."""
    return _WORDS[kind](figures, reader)


def kind_name(kind: AlertKind, reader: Reader) -> str:
    """What alerts of this kind are called."""
    return reader.say(kind.value)


def _spike(figures: Figures, reader: Reader) -> str:
    return reader.say(
        "why_spike",
        clicks=reader.clicks(figures["clicks"]),
        begin=figures["until"] - timedelta(hours=1),
        usual=figures["usual"],
    )


def _drop(figures: Figures, reader: Reader) -> str:
    clicks, hours = figures["clicks"], figures["hours"]
    return reader.say(
        "why_drop",
        clicks=reader.clicks(clicks) if clicks else reader.say("no_click"),
        hours=reader.say("one_hour" if hours == 1 else "hours", number=hours),
        until=figures["until"],
        usual=figures["usual"],
    )


def _broken(figures: Figures, reader: Reader) -> str:
    url, problem = reader.quote(figures["url"]), reader.found(figures["problem"])
    return reader.say("why_broken", url=url, problem=problem, since=figures["since"])


def _expiry(figures: Figures, reader: Reader) -> str:
    name = "why_expired" if figures["has_expired"] else "why_expires"
    return reader.say(name, at=figures["expires_at"])


def _limits(figures: Figures, reader: Reader) -> str:
    if "limit" in figures:
        return reader.say(
            "why_rate_limit",
            limit=reader.quote(figures["limit"]),
            requests=figures["requests"],
            last=figures["last"],
        )
    clicks, most = figures["clicks"], figures["max_clicks"]
    if clicks >= most:
        return reader.say("why_all_clicks", most=most)
    return reader.say("why_nearly_all_clicks", clicks=clicks, most=most)


def _refused(figures: Figures, reader: Reader) -> str:
    origin = figures["origin"]
    return reader.say(
        "why_refused",
        site=reader.quote(origin) if origin else reader.say("no_site"),
        requests=figures["requests"],
        last=figures["last"],
        reason=reader.found(figures["reason"]),
    )


def _rejected(figures: Figures, reader: Reader) -> str:
    calls = figures["calls"]
    return reader.say(
        "why_rejected",
        calls=reader.say("one_call" if calls == 1 else "calls", number=calls),
        call=reader.quote(figures["call"]),
        field=reader.quote(figures["field"]),
        rule=reader.quote(figures["rule"]),
        last=figures["last"],
    )


_WORDS: Mapping[AlertKind, Callable[[Figures, Reader], str]] = {
    AlertKind.SPIKE: _spike,
    AlertKind.DROP: _drop,
    AlertKind.BROKEN_DESTINATION: _broken,
    AlertKind.LINK_EXPIRY: _expiry,
    AlertKind.LIMITS: _limits,
    AlertKind.REFUSED_SITES: _refused,
    AlertKind.REJECTED_CALLS: _rejected,
}
