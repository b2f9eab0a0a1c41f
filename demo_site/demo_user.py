"""The dashboard user of `make run`: created on the first run and used again on later ones."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from backend.domain.accounts.roles import Role
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId, UserId
from backend.storage.accounts.users import users
from backend.storage.accounts.users.new_passwords import set_password
from backend.storage.accounts.users.passwords import hash_password, is_password
from backend.storage.driver.mongo import Database

EMAIL = "demo@example.com"


@dataclass(frozen=True, slots=True)
class DemoUser:
    """The e-mail address and password to sign in with."""

    email: str
    password: str


async def prepare_user(database: Database, file: Path, org_id: OrgId, now: datetime) -> DemoUser:
    """The demo user, who is created if needed. The password is kept in the private file `file`."""
    password = _kept_password(file)
    user = await users.find_user_by_email(database, EMAIL)
    if user is None:
        new_user = User(
            UserId(str(uuid.uuid4())), EMAIL, await hash_password(password, EMAIL), (org_id,), now
        )
        await users.insert_user(database, new_user)
    elif not await is_password(password, user.password_hash, EMAIL):
        await set_password(database, user.id, await hash_password(password, EMAIL))
    return DemoUser(EMAIL, password)


async def let_see(database: Database, org_id: OrgId) -> None:
    """Let the demo user act for this organization too. It is the one that a sign-in opens."""
    user = await users.find_user_by_email(database, EMAIL)
    if user and org_id not in user.org_ids:
        roles = {org_id: user.role_in(org_id) for org_id in user.org_ids}
        await users.set_roles(database, user.id, {org_id: Role.OWNER, **roles})


def _kept_password(file: Path) -> str:
    try:
        kept = file.read_text().strip()
    except FileNotFoundError:
        kept = ""
    return kept or _new_password(file)


def _new_password(file: Path) -> str:
    password = secrets.token_urlsafe(12)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    file.write_text(password)
    return password
