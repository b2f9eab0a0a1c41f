"""Finds the link of the text that a visitor copied on the page before the App Store."""

from __future__ import annotations

from backend.domain.apps.clipboard_texts import ClipboardText, id_of_text
from backend.domain.apps.installs import AppOpen, AppPlatform
from backend.domain.ids import OrgId
from backend.storage.apps.clipboard_texts import find_text
from backend.web.current import resources


async def find_copied_text(opened: AppOpen, org_id: OrgId, app_id: str) -> ClipboardText | None:
    """The text that the open brings, if it can be redeemed: it is of this organization and of this app."""
    text_id = id_of_text(opened.clipboard_text or "")
    if text_id is None or opened.platform is not AppPlatform.IOS:
        return None
    return await find_text(resources().database, text_id, org_id, app_id, resources().clock())
