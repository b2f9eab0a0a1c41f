"""Visitors who follow a link out of a mail, whose sender counts taps by redirects of its own.

Behind a redirect, iOS opens no app.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from backend.domain.accounts.apps import Apps
from backend.domain.links.destinations.compiled_rules import Target
from backend.domain.links.destinations.destination import Outcome, is_on_ios_without_app
from backend.domain.links.links import Link
from backend.domain.web.client import Client
from backend.domain.web.referring_sites import is_of_mail

_MEDIUMS = frozenset({"email", "e-mail", "e_mail", "mail", "newsletter", "mailing"})
# What senders put behind the addresses in their mails: Mailchimp, HubSpot, Klaviyo, Marketo, Kit, Vero,
# Eloqua, Sailthru, Dotdigital, Bloomreach, Drip, Omeda, MailerLite, Iterable.
_PARAMETERS = frozenset(
    {"mc_cid", "mc_eid", "_hsenc", "_hsmi", "_kx", "mkt_tok", "ck_subscriber_id", "vero_id", "vero_conv",
     "elqtrackid", "elqtrack", "sc_eh", "dm_i", "xnpe_tifc", "__s", "oly_enc_id", "oly_anon_id",
     "ml_subscriber", "ml_subscriber_hash", "iterable_campaign"}
)  # fmt: skip
_REPLACED = frozenset({Outcome.APP_STORE, Outcome.WEB})


def gets_page(link: Link, client: Client, apps: Apps, target: Target | None, outcome: Outcome) -> bool:
    """Whether who comes out of a mail gets the page with the app and the store instead of this outcome."""
    has_page = apps.ios is not None and apps.ios.mail_page
    return has_page and not target and outcome in _REPLACED and is_on_ios_without_app(link, client)


def comes_by_mail(referrer_host: str | None, query: str, link: Link) -> bool:
    """Whether a visit comes out of a mail, as far as can be told.

    The referrer says so, the link's or the visit's `utm_medium`, or a parameter that senders of mail add.
    Most services of theirs leave no referrer.
    """
    if referrer_host is not None and is_of_mail(referrer_host):
        return True
    sent = {name.lower(): value for name, value in parse_qsl(query)}
    mediums = (link.utm.get("utm_medium", ""), sent.get("utm_medium", ""))
    return not _PARAMETERS.isdisjoint(sent) or any(medium.strip().lower() in _MEDIUMS for medium in mediums)
