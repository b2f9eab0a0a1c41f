"""The part of a host name that somebody registered, such as shop.co.uk, by the list that browsers have."""

from __future__ import annotations

import asyncio
from functools import cache

from publicsuffixlist import PublicSuffixList


async def registrable_part(host: str) -> str | None:
    """`shop.co.uk` of `go.shop.co.uk`; None for a name that nobody can register, such as `co.uk`."""
    suffixes = await asyncio.to_thread(_read)  # takes a third of a second, once
    return suffixes.privatesuffix(host)


@cache
def _read() -> PublicSuffixList:
    return PublicSuffixList()
