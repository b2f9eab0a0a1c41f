"""Messages after an action, such as "Link created". The page's address contains only the message's name."""

from __future__ import annotations

from typing import Any

from quart import Response, redirect, url_for

NOTICES = {
    "apps-saved": "The apps are saved.",
    "domain-saved": "It is saved. Visitors see it within seconds.",
    "orphans-forgotten": "They are forgotten. Counting goes on.",
    "link-made": "The link is made. It works now.",
    "logo-kept": "The logo is kept. Codes can have it from now on.",
    "logo-removed": "The logo is removed.",
    "link-changed": "The link is changed.",
    "link-enabled": "The link is enabled: it redirects again.",
    "link-disabled": "The link is disabled: visitors see an error page.",
    "link-archived": "The link is archived: visitors see an error page, its path and its counts are kept.",
    "link-unarchived": "The link is out of the archive, enabled or disabled as it was before.",
    "destinations-set": "The rules are set. They hold for new links and new destinations within seconds.",
    "preview-filled": "The preview is filled in from the page.",
    "preview-empty": "The page says nothing that the link's preview lacks.",
    "rules-changed": "The rules are changed: they hold for the next visitor.",
    "funnel-made": "The funnel is made.",
    "funnel-changed": "The funnel is changed.",
    "funnel-deleted": "The funnel is deleted. What it counted stays.",
    "key-revoked": "The key is revoked. Whatever uses it is refused within seconds.",
    "provisioning-token-revoked": "The token is revoked. Whatever uses it is refused within seconds.",
    "provisioning-forgotten": "It is forgotten. All members stay, and are changed by hand from now on.",
    "origin-allowed": "The origin is allowed. Its calls are accepted within seconds.",
    "origin-removed": "The origin is not allowed any more. Its calls are refused within seconds.",
    "invitation-withdrawn": "The invitation is withdrawn: its link works no more.",
    "deletion-announced": "The deletion is announced. Until it begins, any owner can take it back.",
    "deletion-taken-back": "The organization stays: nothing was deleted.",
    "deletion-not-announced": "No deletion is announced any more.",
    "archive-asked": "The archive is asked for. This page shows how far it is.",
    "archive-deleted": "The archive is deleted.",
    "role-set": "The role is changed, from the next click on.",
    "member-removed": "The member is removed.",
    "session-ended": "That browser is signed out.",
    "sessions-ended": "Everywhere else you are signed out.",
    "password-set": "The new password is set. Sign in with it.",
    "password-changed": "The password is changed. Everywhere else you are signed out.",
    "click-ids-set": "It is set, and holds within seconds.",
    "event-properties-set": "They are marked: the events are shown by them.",
    "organization-renamed": "The organization has its new name.",
    "click-retention-set": "It is set. Days of older clicks are added up within about an hour.",
    "withdrawal-set": "It is set, and holds within seconds.",
    "customer-erased": "What was stored about the customer is erased.",
    "retention-set": "It is set, for what was stored before as well.",
    "report-made": "The report is made: whoever has its address may open it.",
    "report-changed": "The report is changed. Its address is the same.",
    "report-deleted": "The report is revoked: its address leads nowhere any more.",
    "mail-asked": "The question is on its way. Figures come once it is answered with yes.",
    "mail-had": "That address gets these figures already.",
    "mail-changed": "The change is saved. The reader was not asked again.",
    "mail-removed": "The reader is removed: nothing more is sent, not even what waited.",
    "try-sent": "The mail is on its way to you.",
    "tag-made": "The tag is made.",
    "tag-changed": "The tag is changed, on all links that have it.",
    "tag-deleted": "The tag is deleted, and on no link any more.",
    "template-made": "The template is made. New links can be filled in from it.",
    "template-changed": "The template is changed. Links that it filled stay as they are.",
    "template-deleted": "The template is deleted. Links that it filled stay as they are.",
    "alert-rule-made": "The rule is made. It is looked after within five minutes.",
    "alert-rule-changed": "The rule is changed.",
    "alert-rule-deleted": "The rule is deleted. What it told of stays.",
    "alerts-seen": "All alerts are marked as seen.",
    "cost-told": "The cost is saved.",
    "costs-told": "The costs are saved.",
    "cost-deleted": "The cost is deleted.",
    "note-added": "The note is added. Charts show it.",
    "note-changed": "The note is changed.",
    "note-deleted": "The note is deleted. No chart shows it any more.",
    "webhook-changed": "The webhook is changed.",
    "webhook-paused": "The webhook is paused: nothing is sent, and what happens waits.",
    "webhook-resumed": "The webhook is resumed: what waited is sent first.",
    "webhook-goes-on": "The webhook goes on: what waited is sent first.",
    "webhook-replays": "What was since then is sent again.",
    "webhook-deleted": "The webhook is deleted: nothing is sent to it any more.",
    "second-factor-set": "The second factor is set: from now on, signing in takes a code.",
    "second-factor-off": "The second factor is off: the password alone signs you in.",
    "second-factor-required": "It is set, and holds from the next page that a member opens.",
    "group-roles-set": "The roles are set. They hold from each person's next sign-in on.",
    "passkey-added": "The passkey is added. It signs you in without password and code.",
    "passkey-removed": "The passkey is removed: it does not sign in any more.",
    "recovery-code-used": "You are signed in with a recovery code. That one is used up.",
    "sign-in-again": "That took too long. Sign in again.",
    "signed-out": "You are signed out.",
}


def notice(name: str) -> str:
    """The message with this name; "" for an unknown name, since anyone can write an address."""
    return NOTICES.get(name, "")


def redirect_with_notice(endpoint: str, name: str, **values: Any) -> Response:
    """What answers a form that was done: it leads to the page, which shows the message with this name."""
    address = url_for(f"dashboard.{endpoint}", notice=name, **values)
    return redirect(address, 303)  # type: ignore[return-value]
