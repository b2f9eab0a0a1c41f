"""JSON Schemas of link domains in answers."""

from __future__ import annotations

from backend.domain.domains.input import BRAND_FIELDS, DOMAIN_FIELDS
from backend.domain.domains.orphans import MOST_PATHS_A_DAY, NotKept
from backend.domain.domains.setup import DomainState, StepState
from backend.domain.fields.answer_schemas import COUNT, TEXT, TIME, answer_object, or_null
from backend.domain.fields.rules import Schema
from backend.domain.finding import SetupStep, Severity
from backend.rest_api.routes.operation import reference

_BRAND_MEANINGS = {
    "name": "Shown on pages, and to what fetches previews.",
    "logo_url": "The browser of whoever sees a page asks this host for the logo.",
    "favicon_url": "Browsers ask this host for the icon; /favicon.ico leads there.",
    "color": "Of buttons and links, made darker or lighter where it could not be read.",
    "background": "Of pages, on light and dark screens alike. The colour of the text follows from it.",
}
_BRAND: dict[str, Schema] = {
    name: or_null(rule.schema(), _BRAND_MEANINGS[name]) for name, rule in BRAND_FIELDS.items()
}
_RECORD = answer_object(type=TEXT, name=TEXT, value=TEXT)
_PROOF = or_null(_RECORD, "The DNS record that proves whose the domain is; null: it is proved.")
_DOMAIN: dict[str, Schema] = {
    "name": TEXT,
    "root_url": or_null(DOMAIN_FIELDS["root_url"].schema(), "Where / leads; null: to the error page."),
    "not_found_url": or_null(
        DOMAIN_FIELDS["not_found_url"].schema(), "Where paths without a link lead; null: to the error page."
    ),
    "brand": answer_object(**_BRAND),
    "texts": {
        "type": "object",
        "description": "Own texts by language (en, de, fr, es) and page. Others are the service's own.",
        "additionalProperties": {
            "type": "object",
            "additionalProperties": answer_object(title=TEXT, text=TEXT),
        },
    },
    "forwards_path": {
        "type": "boolean",
        "description": "Whether new links pass on what follows their path, unless they say otherwise.",
    },
    "ignores_case": {
        "type": "boolean",
        "description": "Whether a path in other case leads to the only link that it can mean.",
    },
    "robots_txt": or_null(TEXT, "The lines of /robots.txt; null: there is no such file."),
    "is_proved": {
        "type": "boolean",
        "description": "Whether it is shown whose the domain is, so that it can be used.",
    },
    "proof": _PROOF,
}
_FOUND = answer_object(
    severity={"type": "string", "enum": [severity.value for severity in Severity]},
    message=TEXT,
    advice=TEXT | {"description": "What to do; empty: nothing."},
)
_SETUP: dict[str, Schema] = {
    "name": TEXT,
    "state": {"type": "string", "enum": [state.value for state in DomainState]},
    "checked_at": or_null(TIME, "Null: not yet."),
    "proof": _PROOF,
    "records": {
        "type": "array",
        "items": _RECORD,
        "description": "The DNS records that lead the domain here; empty: the operator has named no target.",
    },
    "steps": {
        "type": "array",
        "items": answer_object(
            step={"type": "string", "enum": [step.value for step in SetupStep]},
            state={"type": "string", "enum": [state.value for state in StepState]},
            findings={"type": "array", "items": _FOUND, "description": "The worst first."},
        ),
    },
}
_NOT_KEPT = {
    NotKept.PROBE: "Of scanners, such as /wp-login.php.",
    NotKept.UNREADABLE: "Paths that are too long, or have an @.",
    NotKept.TOO_MANY: f"Further paths than the {MOST_PATHS_A_DAY} that are kept of a day.",
}
_ORPHAN: dict[str, Schema] = {
    "path": TEXT,
    "visits": COUNT,
    "last_at": TIME,
    "referrers": {
        "type": "array",
        "items": answer_object(
            host=or_null(TEXT, "Null: from no page; other: from further hosts."), visits=COUNT
        ),
        "description": "The hosts that people came from, those of most visits first.",
    },
    "nearest": or_null(TEXT, "The short URL of the link that is most like the path; null: none is like it."),
}
DOMAIN_SCHEMAS: dict[str, Schema] = {
    "Domain": answer_object(**_DOMAIN),
    "DomainList": answer_object(domains={"type": "array", "items": reference("Domain")}),
    "DomainSetup": answer_object(**_SETUP),
    "Orphan": answer_object(**_ORPHAN),
    "OrphanList": answer_object(
        orphans={"type": "array", "items": reference("Orphan")},
        next_cursor=or_null(TEXT, "Null: there are no more."),
        not_kept=answer_object(
            **{reason.value: COUNT | {"description": text} for reason, text in _NOT_KEPT.items()}
        )
        | {"description": "Visits whose path is not kept."},
    ),
}
