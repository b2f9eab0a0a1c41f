"""The socket on which a server is reached."""

from __future__ import annotations

import errno
import socket

from backend.domain.errors import OperatorError


class NotStarted(OperatorError):
    """A server did not start. The message says why, and what to do."""


def bind(host: str, port: int, variable: str) -> socket.socket:
    """A socket that is bound to the address. Raises NotStarted if the port is in use or not allowed.

    `variable` is the setting that the message names. The socket does not listen yet, so nobody connects
    before the application has started.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise NotStarted(_why_not_bound(error, host, port, variable)) from None
    return bound


def _why_not_bound(error: OSError, host: str, port: int, variable: str) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken: stop what listens there, or set {variable} to another."
    return f"Can't listen on {host} port {port} ({error.strerror}): set {variable} to another port."
