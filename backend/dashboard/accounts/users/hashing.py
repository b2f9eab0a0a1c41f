"""Hashes new passwords, each in its turn: a hash takes memory and several cores."""

from __future__ import annotations

from backend.dashboard.frame.service import DashboardService
from backend.domain.accounts.users import check_password
from backend.storage.accounts.users.passwords import hash_password
from backend.storage.driver.deadlines import deadline_paused
from backend.web.current import of_app


async def new_password_hash(password: str) -> str:
    """The hash of a new password. Raises WeakPassword, and TooManyWait where too many are to be hashed."""
    check_password(password)
    with deadline_paused():
        async with of_app(DashboardService).hashing.turn(precedence=False):
            return await hash_password(password)
