"""How often something is asked again where the process that answers ends, and what is not asked any more."""

from __future__ import annotations

import hashlib
import pickle
import time
from typing import Any

from backend.storage.analytics.connection import ConnectionLost
from backend.storage.analytics.question import NoAnswer, TooMuch

_MOST_TRIES = 5
# How often the process may end while it works on what one asks, until that is taken for the reason.
_MOST_ENDS = 2
# So long the same is not asked again.
_REFUSED_SECONDS = 600.0


class DeadlyMessages:
    """What has ended the process lately, each time that it was asked."""

    def __init__(self) -> None:
        self._until: dict[bytes, float] = {}

    def refuse(self, digest: bytes) -> None:
        """Raise TooMuch if it is one of them."""
        if self._until.get(digest, 0.0) > (now := time.monotonic()):
            raise _deadly(self._until[digest] - now)

    def add(self, digest: bytes) -> TooMuch:
        """Add one. Returns what is told to whoever asked."""
        now = time.monotonic()
        self._until = {known: until for known, until in self._until.items() if until > now}
        self._until[digest] = now + _REFUSED_SECONDS
        return _deadly(_REFUSED_SECONDS)


class Tries:
    """How often the process ended while somebody waited for the answer to a message."""

    def __init__(self, message: dict[str, Any], deadly: DeadlyMessages) -> None:
        """Raises NoAnswer where the message is not to be sent for a while."""
        self._deadly = deadly
        # The upkeep of all files takes long, and is to be done whatever ended the process beside it.
        self._is_question = "org_id" in message
        self._digest = hashlib.sha256(pickle.dumps(message)).digest()
        self._tries = 0
        self._ends = 0
        deadly.refuse(self._digest)

    @property
    def is_suspect(self) -> bool:
        """Whether what is asked may have ended the process: then it is not worked on beside another such."""
        return self._is_question and self._ends > 0

    def note(self, lost: ConnectionLost) -> None:
        """Note that the process has ended. Raises NoAnswer where it is not to be asked again."""
        self._tries += 1
        self._ends += lost.is_begun
        if self._is_question and self._ends == _MOST_ENDS:
            raise self._deadly.add(self._digest)
        if self._tries == _MOST_TRIES:
            raise NoAnswer("The process that has the figures ends again and again; see the log.")


def _deadly(seconds: float) -> TooMuch:
    return TooMuch(
        "The process that has the figures has ended twice at work on this, perhaps because the machine has "
        "too little memory for it: ask for a shorter period, or for less in it. The same is not asked again "
        f"for {seconds / 60:.0f} minutes."
    )
