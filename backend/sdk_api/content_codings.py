"""Chooses the content coding of an answer by the request's Accept-Encoding (RFC 9110, 12.5.3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from werkzeug.http import parse_accept_header

from backend.web.sdk_files import IDENTITY

# The quality of `identity` where the header does not name it: accepted, but below any quality in a header.
_UNNAMED_IDENTITY_QUALITY = 0.0001
_OLD_NAMES = {"x-gzip": "gzip"}


def choose_coding(accept_encoding: str | None, available: Collection[str]) -> str | None:
    """The coding to answer in, of those that are available; None if the client accepts none of them.

    `available` is in the order in which we prefer them, where the client does not care. A client that says
    nothing gets `identity`: it may know no other.
    """
    if accept_encoding is None:
        return IDENTITY
    qualities = {
        _OLD_NAMES.get(coding.lower(), coding.lower()): float(quality)
        for coding, quality in parse_accept_header(accept_encoding)
    }
    best = max(available, key=lambda coding: _quality(qualities, coding))
    return best if _quality(qualities, best) > 0 else None


def _quality(qualities: Mapping[str, float], coding: str) -> float:
    unnamed = _UNNAMED_IDENTITY_QUALITY if coding == IDENTITY else 0.0
    return qualities.get(coding, qualities.get("*", unnamed))
