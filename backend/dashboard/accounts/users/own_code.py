"""A code of the user's second factor, asked for before what nobody else at an open browser must do."""

from __future__ import annotations

from backend.dashboard.frame.blueprint import user
from backend.dashboard.frame.service import DashboardService
from backend.storage.accounts.users.second_factors import accept_code
from backend.web.current import of_app, resources, visitor_address


async def code_problem(code: str) -> str:
    """What is wrong with the code that was typed; empty if it is right, and so used up. Tries are limited."""
    limits = of_app(DashboardService).sign_in_limits
    visitor = await limits.recognize(user().email, visitor_address())
    if seconds := await limits.begin_code(visitor):
        return f"was tried too often; wait {seconds:.0f} seconds"
    async with limits.trying_code(visitor):
        accepted = await accept_code(resources().database, user(), code, resources().clock())
    if accepted is None:
        return "is not the code of this moment, or was used already"
    await limits.code_succeeded(visitor)
    return ""
