"""What is known of each form: why it compares nothing, what changes it, and what it makes."""

from __future__ import annotations

from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.analytics.segments import SEGMENTS
from backend.domain.annotations.annotation import ANNOTATIONS
from backend.storage.accounts import api_keys, origins
from backend.storage.accounts.domain_setup import claims
from backend.storage.accounts.users import invitations, password_resets
from backend.storage.alerts import rules as alert_rules
from backend.storage.archives import archives
from backend.storage.links import links, tags, utm_templates
from backend.storage.reports import reports
from backend.storage.webhooks import endpoints

# Of each form that makes something, what makes one, and the collection that has one more then. Forms that
# make a secret in the place of another have one more nowhere.
MADE: dict[str, tuple[dict[str, str], str]] = {
    "alerts_add": ({"name": "Made"}, alert_rules.NAME),
    "archives_ask": ({}, archives.NAME),
    "domains_add": ({"name": "go.made.example"}, claims.NAME),
    "funnels_add": ({"name": "Made"}, SAVED_FUNNELS.collection),
    "install_with_key": ({}, api_keys.NAME),
    "keys_create": ({"name-rest": "Made"}, api_keys.NAME),
    "keys_rotate": ({}, api_keys.NAME),
    "links_create": ({"destination_url": "https://made.example/", "link_name": "Made"}, links.NAME),
    "members_invite": ({"email": "made@made.example"}, invitations.NAME),
    "members_reset": ({}, password_resets.NAME),
    "notes_add": ({"text": "Made"}, ANNOTATIONS.collection),
    "origins_add": ({"origin": "https://made.example"}, origins.NAME),
    "provisioning_make_token": ({"name": "Made"}, api_keys.NAME),
    "reports_add": ({"name": "Made"}, reports.NAME),
    "segments_add": ({"segment_name": "Made"}, SEGMENTS.collection),
    "tags_add": ({"name": "Made"}, tags.NAME),
    "templates_add": ({"name": "Made", "utm_source": "made"}, utm_templates.NAME),
    "webhooks_add": ({"url": "https://made.example/", "type-lead": "on"}, endpoints.NAME),
    "webhooks_replay": ({}, ""),
    "webhooks_rotate": ({}, ""),
}
# Forms that ask people by mail. Here is no mail server: tests/dashboard/mails/test_page.py sends them twice.
BY_MAIL = {"mails_add", "mails_ask"}
# Why a form is compared with nothing: it puts back nothing that somebody else has changed.
MAKES = "makes something new"
SHOWS = "stores nothing"
SAYS = "says what it wants"
REMOVES = "removes something"
DOES = "does something"
UNCOMPARED = {
    **dict.fromkeys({*MADE, *BY_MAIL}, MAKES),
    **dict.fromkeys(
        (
            *("costs_sheet_done", "costs_tell", "links_qr_logo", "links_sheet_done"),
            *("links_archive", "links_bulk", "links_bulk_done", "links_status"),
            *("settings_deletion_ask", "settings_deletion_take_back"),
            *("webhooks_go_on", "webhooks_status"),
        ),
        SAYS,
    ),
    **dict.fromkeys(
        (
            *("alerts_delete", "archives_delete", "costs_delete", "customer_erase"),
            *("domains_forget_orphans", "domains_remove", "funnels_delete", "keys_revoke"),
            *("mails_remove", "members_remove", "members_withdraw", "notes_delete", "origins_remove"),
            *("provisioning_forget", "provisioning_revoke_token", "reports_delete", "segments_delete"),
            *("single_sign_on_remove", "tags_delete", "templates_delete", "webhooks_delete"),
        ),
        REMOVES,
    ),
    **dict.fromkeys(
        (
            *("alerts_seen", "domains_check", "links_preview", "mails_try", "mails_try_form"),
            "webhooks_test",
        ),
        DOES,
    ),
    **dict.fromkeys(
        (
            *("costs_sheet_check", "domains_draw_picture", "links_qr_sheet", "links_qr_sheet_file"),
            "links_sheet_check",
        ),
        SHOWS,
    ),
}
# Forms that compare a digest of their own, of the very list that they change.
OWN_DIGEST = {"links_rules_save", "links_rules_order"}
# A field of each compared form, what one person stores in it, and what another would store after that.
CHANGES = {
    "alerts_change": ("name", "Theirs", "Mine"),
    "destinations_set": ("refused", "their-casino.example", "my-casino.example"),
    "domains_save_look": ("root_url", "https://theirs.example/", "https://mine.example/"),
    "funnels_change": ("name", "Theirs", "Mine"),
    "links_change": ("destination_url", "https://theirs.example/", "https://mine.example/"),
    "mails_change": ("timezone", "Europe/Berlin", "Europe/Paris"),
    "members_role": ("role", "editor", "viewer"),
    "notes_change": ("text", "Theirs", "Mine"),
    "reports_change": ("shows_revenue", "on", ""),
    "set_apps_of_domain": ("custom_scheme", "theirs", "mine"),
    "settings_audit_retention": ("audit_days", "100", "200"),
    "settings_click_ids": ("click_ids", "", "on"),
    "settings_click_retention": ("click_days", "100", "200"),
    "settings_event_properties": ("others", "theirs", "mine"),
    "settings_name": ("organization_name", "Theirs", "Mine"),
    "settings_retention": ("retention_days", "100", "200"),
    "settings_withdrawal": ("erases_on_withdrawal", "on", ""),
    "single_sign_on_groups": ("group-0", "Theirs", "Mine"),
    "tags_change": ("name", "Theirs", "Mine"),
    "templates_change": ("utm_source", "theirs", "mine"),
    "webhooks_change": ("url", "https://theirs.example/", "https://mine.example/"),
}
# Pages with forms, to which no route alone leads.
PAGES = {"alerts_add": "/alerts/new?kind=limits", "segments_add": "/?country=DE"}
# Compared forms that can't be stored here: they need a provider that answers, or a second factor.
NOT_STORED = {
    "settings_require_second_factor",
    "single_sign_on_provider",
    "single_sign_on_require",
}
