"""The password of the user, asked for once more before what a stranger at an open browser must not do."""

from __future__ import annotations

from backend.dashboard.frame.blueprint import user
from backend.dashboard.frame.service import DashboardService
from backend.rate_limits.untried import in_limit, undone_after_errors
from backend.storage.accounts.users.passwords import is_password
from backend.web.current import of_app


async def password_problem(password: str) -> str:
    """What is wrong with the password that was typed; empty if it is right. Tries are limited."""
    count = in_limit(of_app(DashboardService).password_changes, user().id)
    if seconds := await count.begin():
        return f"was tried too often; wait {seconds:.0f} seconds"
    async with undone_after_errors(count.undo):
        is_right = await is_password(password, user().password_hash, user().id)
    return "" if is_right else "is not right"
