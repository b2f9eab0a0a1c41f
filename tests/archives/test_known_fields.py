"""The rules for archives keep up with what the service stores."""

from __future__ import annotations

from dataclasses import fields

import pytest

from backend.domain.api_keys import ApiKey
from backend.domain.organizations import Organization
from backend.domain.users import User
from backend.storage.archived_documents import organization
from backend.storage.archived_documents.check import RULES
from backend.storage.collections import archived_collections
from backend.storage.document_fields import DocumentFields


@pytest.mark.parametrize(
    ("rule", "record"),
    [
        (organization._API_KEY, ApiKey),
        (organization._USER, User),
        (organization._ORGANIZATION, Organization),
    ],
    ids=["keys", "users", "organizations"],
)
def test_no_field_is_forgotten(rule: DocumentFields, record: type) -> None:
    """A field that is added to a record gets a rule, or what has it could not be restored."""
    assert {item.name for item in fields(record)} - {"id", "org_id"} == {*rule.required, *rule.optional}


def test_every_archived_collection_has_a_rule() -> None:
    """What archives have of a new collection is checked as well before it is stored, or can't be restored."""
    assert RULES.keys() == archived_collections().keys()
