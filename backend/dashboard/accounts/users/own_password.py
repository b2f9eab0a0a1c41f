"""The password of the user, asked for once more before what a stranger at an open browser must not do."""

from __future__ import annotations

from backend.dashboard.frame.blueprint import user
from backend.dashboard.frame.service import DashboardService
from backend.storage.accounts.users.passwords import is_password
from backend.web.current import of_app


async def password_problem(password: str) -> str:
    """What is wrong with the password that was typed; empty if it is right. Tries are limited."""
    limit = await of_app(DashboardService).password_changes.count(user().id)
    if not limit.allowed:
        return f"was tried too often; wait {limit.reset_after} seconds"
    return "" if await is_password(password, user().password_hash) else "is not right"
