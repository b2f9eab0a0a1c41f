"""Writes that are sent late, when whoever asked for them may have been cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from pymongo.collection import Collection


@dataclass(frozen=True, slots=True)
class LateWrite:
    """Set when the thread of the driver has been given the write, and when MongoDB has answered."""

    asked: threading.Event = field(default_factory=threading.Event)
    answered: threading.Event = field(default_factory=threading.Event)


@contextmanager
def late_find_and_modify(name: str) -> Iterator[LateWrite]:
    """What finds and modifies a document of this collection is sent a fifth of a second late."""
    write, find_and_modify = LateWrite(), Collection._find_and_modify

    def late(collection: Collection[Any], *values: Any, **options: Any) -> Any:
        if collection.name != name:
            return find_and_modify(collection, *values, **options)
        write.asked.set()
        time.sleep(0.2)
        answer = find_and_modify(collection, *values, **options)
        write.answered.set()
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Collection, "_find_and_modify", late)
        yield write
