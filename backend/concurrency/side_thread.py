"""A thread for work that would block the event loop for too long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

ResultT = TypeVar("ResultT")
# Only one: threads take turns with the event loop's, and with each more the loop waits longer.
_thread = ThreadPoolExecutor(1, thread_name_prefix="side")


async def beside_the_loop(work: Callable[[], ResultT]) -> ResultT:
    """Run `work` in the side thread and return its result. Calls run one after another, in order."""
    return await asyncio.get_running_loop().run_in_executor(_thread, work)
