"""The machine's certificates, read once for all clients of httpx: reading takes longer than most requests."""

from __future__ import annotations

import os
import ssl
from functools import cache
from typing import Any

import httpx._config
import httpx._transports.default

_create = httpx._config.create_ssl_context


def read_once() -> None:
    """Have clients of one kind share their certificates, as long as the environment names the same ones."""
    httpx._transports.default.create_ssl_context = _shared  # type: ignore[attr-defined]


def _shared(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
    named = (os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    return _for(verify, cert, trust_env, named)


@cache
def _for(verify: Any, cert: Any, trust_env: bool, _named: tuple[str | None, str | None]) -> ssl.SSLContext:
    return _create(verify=verify, cert=cert, trust_env=trust_env)
