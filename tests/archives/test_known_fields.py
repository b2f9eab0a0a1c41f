"""The rules for archives keep up with what the service stores."""

from __future__ import annotations

from backend.storage.lifecycle.archived_documents.check import RULES
from backend.storage.lifecycle.collections import archived_collections


def test_every_archived_collection_has_a_rule() -> None:
    """What archives have of a new collection is checked as well before it is stored, or can't be restored."""
    assert RULES.keys() == archived_collections().keys()
