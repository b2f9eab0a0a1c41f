"""Which actions of the audit log each operation and form records, and a watch over what they do record.

An operation of REST or of apps, and a form of the dashboard, has its actions here, or the reason why it
records none. `backend/storage/audit/recording.py` records by the declarations of collections, so no operation
calls for it: this list says what comes of it, and each request that a test makes is compared with it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from backend.domain.all_resources import RESOURCES
from backend.domain.resources.resource import Verb

ASKS = "it only asks"
FACTS = "what happened is a fact of the feed, and no change of what the organization owns"
CHECKS = "it only shows what the next form would do"
DELIVERS = "it delivers what there is"
OWN_VIEW = "it says only what this person sees"

SESSION = ("session.opened", "session.ended")
LINK_BATCH = ("link.created", "link.changed", "link.archived", "link.restored")
CLAIM = ("domain_claim.created", "domain_claim.deleted", "domain.added", "domain.changed")
DOMAIN_REMOVAL = ("domain_claim.deleted", "domain.changed", "domain.removed", "app.deleted")
SSO = ("single_sign_on.created", "single_sign_on.changed", "organization.changed", "session.ended")

_VERBS = {Verb.ADD: "created", Verb.CHANGE: "changed", Verb.DELETE: "deleted"}
_OF_RESOURCES = {
    route: (f"{resource.audit_kind}.{_VERBS[verb]}",)
    for resource in RESOURCES
    for verb, route in (
        *((verb, f"rest.{operation.name}") for verb, operation in resource.rest.operations.items()),
        *((verb, f"dashboard.{endpoint}") for verb, endpoint in resource.pages.items()),
    )
    if verb in _VERBS
}

DECLARED: Mapping[str, tuple[str, ...] | str] = {
    "app_api.open_app": FACTS,
    "app_api.make_link": ("link.created",),
    # Links, and what belongs to them
    "rest.create_link": ("link.created", "link.changed", "link.restored"),
    "rest.post_link": ("link.created", "link.changed", "link.restored"),
    "rest.duplicate_link": ("link.created",),
    "rest.update_link": ("link.changed",),
    "rest.change_status": ("link.changed",),
    "rest.patch_link": ("link.changed", "link.archived", "link.restored"),
    "rest.delete_link": ("link.archived", "link.purged", "note.deleted"),
    "rest.fill_preview": ("link.changed",),
    "rest.bulk_links": LINK_BATCH,
    "rest.links_info": ASKS,
    "rest.print_qr_codes": ASKS,
    "rest.put_qr_logo": ("qr_logo.created", "qr_logo.changed"),
    "rest.delete_qr_logo": ("qr_logo.deleted",),
    "rest.post_tag": ("tag.created",),
    "rest.patch_tag": ("tag.changed",),
    "rest.remove_tag": ("tag.deleted",),
    "rest.post_template": ("utm_template.created",),
    "rest.patch_template": ("utm_template.changed",),
    "rest.remove_template": ("utm_template.deleted",),
    "dashboard.links_create": ("link.created", "tag.created"),
    "dashboard.links_change": ("link.changed", "tag.created"),
    "dashboard.links_status": ("link.changed",),
    "dashboard.links_archive": ("link.archived", "link.restored"),
    "dashboard.links_rules_save": ("link.changed",),
    "dashboard.links_rules_order": ("link.changed",),
    "dashboard.links_preview": ("link.changed",),
    "dashboard.links_bulk": CHECKS,
    "dashboard.links_bulk_done": ("link.changed", "link.archived", "link.restored"),
    "dashboard.links_sheet_check": CHECKS,
    "dashboard.links_sheet_done": (*LINK_BATCH, "tag.created"),
    "dashboard.links_qr_logo": ("qr_logo.created", "qr_logo.changed", "qr_logo.deleted"),
    "dashboard.links_qr_sheet": ASKS,
    "dashboard.links_qr_sheet_file": ASKS,
    "dashboard.tags_add": ("tag.created",),
    "dashboard.tags_change": ("tag.changed",),
    "dashboard.tags_delete": ("tag.deleted",),
    "dashboard.templates_add": ("utm_template.created",),
    "dashboard.templates_change": ("utm_template.changed",),
    "dashboard.templates_delete": ("utm_template.deleted",),
    # Domains, apps, origins
    "rest.patch_domain": ("domain.changed",),
    "rest.post_domain": CLAIM,
    "rest.check_domain": CLAIM,
    "rest.remove_domain": DOMAIN_REMOVAL,
    "dashboard.domains_add": CLAIM,
    "dashboard.domains_check": CLAIM,
    "dashboard.domains_remove": DOMAIN_REMOVAL,
    "rest.remove_orphans": FACTS,
    "rest.patch_destination_rules": ("organization.changed",),
    "dashboard.domains_save_look": ("domain.changed",),
    "dashboard.domains_draw_picture": CHECKS,
    "dashboard.domains_forget_orphans": FACTS,
    "dashboard.destinations_set": ("organization.changed",),
    "dashboard.set_apps_of_domain": ("app.created", "app.changed"),
    "dashboard.install_with_key": ("key.created",),
    "dashboard.origins_add": ("origin.allowed",),
    "dashboard.origins_remove": ("origin.refused",),
    # Figures
    "rest.click_analytics": ASKS,
    "rest.install_analytics": ASKS,
    "rest.query_analytics": ASKS,
    "rest.query_cohorts": ASKS,
    "rest.query_time_to_sale": ASKS,
    "rest.query_new_and_returning": ASKS,
    "rest.ask_funnel": ASKS,
    "rest.tell_conversions": FACTS,
    "rest.tell_leads": FACTS,
    "rest.tell_events": FACTS,
    "rest.tell_identities": FACTS,
    "rest.tell_refunds": FACTS,
    "rest.take_back_identity": FACTS,
    "rest.patch_event_properties": ("organization.changed",),
    "rest.put_costs": ("cost.told",),
    "rest.remove_cost": ("cost.deleted",),
    **_OF_RESOURCES,
    "rest.post_alert_rule": ("alert_rule.created",),
    "rest.patch_alert_rule": ("alert_rule.changed",),
    "rest.remove_alert_rule": ("alert_rule.deleted",),
    "rest.preview_alert_rule": ASKS,
    "rest.patch_alert": OWN_VIEW,
    "rest.post_report": ("report.created",),
    "rest.patch_report": ("report.changed",),
    "rest.remove_report": ("report.deleted", "report_recipient.deleted"),
    "rest.post_report_recipient": ("report_recipient.created", "report_recipient.changed"),
    "rest.patch_report_recipient": ("report_recipient.changed",),
    "rest.remove_report_recipient": ("report_recipient.deleted",),
    "dashboard.settings_event_properties": ("organization.changed",),
    "dashboard.costs_tell": ("cost.told",),
    "dashboard.costs_delete": ("cost.deleted",),
    "dashboard.costs_sheet_check": CHECKS,
    "dashboard.costs_sheet_done": ("cost.told",),
    "dashboard.alerts_seen": OWN_VIEW,
    "dashboard.alerts_add": ("alert_rule.created",),
    "dashboard.alerts_change": ("alert_rule.changed",),
    "dashboard.alerts_delete": ("alert_rule.deleted",),
    "dashboard.reports_add": ("report.created",),
    "dashboard.reports_change": ("report.changed",),
    "dashboard.reports_delete": ("report.deleted", "report_recipient.deleted"),
    "dashboard.mails_add": ("report_recipient.created", "report_recipient.changed"),
    "dashboard.mails_ask": ("report_recipient.changed",),
    "dashboard.mails_change": ("report_recipient.changed",),
    "dashboard.mails_remove": ("report_recipient.deleted",),
    "dashboard.mails_try": DELIVERS,
    "dashboard.mails_try_form": DELIVERS,
    # Persons' data
    "dashboard.customer_export": ("customer.exported",),
    "dashboard.customer_erase": ("customer.erased", "report_recipient.deleted"),
    # Webhooks and keys
    "rest.post_webhook": ("webhook.created",),
    "rest.patch_webhook": ("webhook.changed",),
    "rest.remove_webhook": ("webhook.deleted",),
    "rest.rotate_webhook_secret": ("webhook.secret_rotated",),
    "rest.test_webhook": DELIVERS,
    "rest.go_on_with_webhook": DELIVERS,
    "rest.replay_webhook": DELIVERS,
    "rest.post_key": ("key.created",),
    "rest.patch_key": ("key.changed",),
    "rest.revoke_key": ("key.revoked",),
    "rest.rotate_key": ("key.created", "key.rotated"),
    "dashboard.webhooks_add": ("webhook.created",),
    "dashboard.webhooks_change": ("webhook.changed",),
    "dashboard.webhooks_status": ("webhook.changed",),
    "dashboard.webhooks_delete": ("webhook.deleted",),
    "dashboard.webhooks_rotate": ("webhook.secret_rotated",),
    "dashboard.webhooks_test": DELIVERS,
    "dashboard.webhooks_go_on": DELIVERS,
    "dashboard.webhooks_replay": DELIVERS,
    "dashboard.keys_create": ("key.created",),
    "dashboard.keys_rotate": ("key.created", "key.rotated"),
    "dashboard.keys_revoke": ("key.revoked",),
    # Members, and how they sign in
    "rest.patch_member": ("member.changed",),
    "rest.remove_member": ("member.removed", "session.ended"),
    "rest.post_member_invitation": ("invitation.created", "invitation.ended"),
    "rest.remove_member_invitation": ("invitation.ended",),
    "dashboard.members_invite": ("invitation.created", "invitation.ended"),
    "dashboard.members_withdraw": ("invitation.ended",),
    "dashboard.members_role": ("member.changed",),
    "dashboard.members_remove": ("member.removed", "provisioned_person.changed", "session.ended"),
    "dashboard.members_reset": ("password_reset.created",),
    "dashboard.join": (
        *("invitation.ended", "member.added", "member.changed", "member.removed"),
        *("provisioned_person.changed", "password_reset.ended", *SESSION),
    ),
    "dashboard.forgot_password_send": ("password_reset.created",),
    "dashboard.new_password": (
        *("member.changed", "password_reset.ended", "provisioned_person.changed", "session.ended"),
    ),
    "dashboard.sign_in": (*SESSION, "session.refused", "member.changed"),
    "dashboard.sign_in_code": (*SESSION, "session.refused", "member.changed"),
    "dashboard.sign_in_passkey": SESSION,
    "dashboard.sign_out": ("session.ended",),
    "dashboard.switch_organization": OWN_VIEW,
    "dashboard.settings_password": ("member.changed", "password_reset.ended", *SESSION),
    "dashboard.settings_end_session": ("session.ended",),
    "dashboard.settings_end_others": ("session.ended",),
    "dashboard.settings_second_factor_set": ("member.changed",),
    "dashboard.settings_second_factor_off": ("member.changed",),
    "dashboard.settings_recovery_codes": ("member.changed",),
    "dashboard.settings_passkey_add": ("member.changed",),
    "dashboard.settings_passkey_remove": ("member.changed",),
    # Who comes from an identity provider
    "scim.scim_call": (
        *(f"provisioned_person.{verb}" for verb in ("created", "changed", "deleted")),
        *(f"provisioned_group.{verb}" for verb in ("created", "changed", "deleted")),
        *("member.added", "member.changed", "member.removed"),
        *("session.ended", "invitation.ended", "invitation.created"),
    ),
    "dashboard.single_sign_on_callback": (
        *(*SESSION, "member.added", "member.changed", "member.removed"),
        *("invitation.ended", "provisioned_person.changed"),
    ),
    "dashboard.single_sign_on_left": SESSION,
    "dashboard.single_sign_on_provider": SSO,
    "dashboard.single_sign_on_remove": SSO,
    "dashboard.single_sign_on_require": ("organization.changed", "session.ended"),
    "dashboard.provisioning_make_token": ("key.created", "key.revoked", "key.rotated"),
    "dashboard.provisioning_revoke_token": ("key.revoked",),
    "dashboard.provisioning_forget": (
        *("provisioned_person.deleted", "provisioned_group.deleted", "key.revoked"),
        *("member.removed", "session.ended", "invitation.ended"),
    ),
    # The organization
    "dashboard.settings_deletion_ask": ("organization_deletion.announced",),
    "dashboard.settings_deletion_take_back": ("organization_deletion.taken_back",),
    "rest.post_archive": ("archive.created",),
    "rest.delete_archive": ("archive.deleted",),
    "rest.get_archive_file": ("archive.downloaded",),
    "dashboard.archives_ask": ("archive.created",),
    "dashboard.archives_delete": ("archive.deleted",),
    "dashboard.archives_file": ("archive.downloaded",),
    "dashboard.single_sign_on_groups": (
        *("single_sign_on.created", "single_sign_on.changed"),
        *("provisioned_person.changed", "member.changed", "member.added", "member.removed"),
        *("session.ended", "invitation.ended"),
    ),
    "dashboard.settings_name": ("organization.changed",),
    "dashboard.settings_retention": ("organization.changed",),
    "dashboard.settings_audit_retention": ("organization.changed",),
    "dashboard.settings_click_retention": ("organization.changed",),
    "dashboard.settings_withdrawal": ("organization.changed",),
    "dashboard.settings_click_ids": ("organization.changed",),
    "dashboard.settings_require_second_factor": ("organization.changed",),
}


class RecordedActions(logging.Handler):
    """Watches, for the length of a block, which actions the routes of services in this process record."""

    def __init__(self) -> None:
        super().__init__()
        self._log = logging.getLogger("waylink.audit")
        self._undeclared: list[str] = []

    def __enter__(self) -> Self:
        self._log.addHandler(self)
        self._log.setLevel(logging.DEBUG)
        self._log.propagate = False  # the output of tests that fail has no need of it
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._log.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of an action that its route does not declare."""
        route, action = record.__dict__["route"], record.__dict__["action"]
        if route is not None and action not in DECLARED.get(route, ()):
            self._undeclared.append(f"{route} recorded {action}")

    def take_undeclared(self) -> list[str]:
        """What was recorded since the last call and is not declared."""
        undeclared, self._undeclared = self._undeclared, []
        return undeclared
