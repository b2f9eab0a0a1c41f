"""Annotations, and changes of links, as answers show them."""

from __future__ import annotations

from typing import Any

from backend.domain.annotations.annotation import Annotation
from backend.domain.annotations.link_change import LinkChange
from backend.domain.links.json_form import exact_time_json, time_json


def annotation_json(annotation: Annotation) -> dict[str, Any]:
    """The annotation; `at` has the form in which it was given."""
    at = annotation.at
    return {
        "id": annotation.id,
        "at": at.date().isoformat() if annotation.is_of_day else time_json(at),
        "text": annotation.text,
        "link_id": annotation.link_id,
        "created_by": annotation.created_by.value,
        "created_at": time_json(annotation.created_at),
    }


def change_json(change: LinkChange) -> dict[str, Any]:
    """A change of a link, by the names that the feed has for it."""
    return {"at": exact_time_json(change.at), "type": change.type.value, "changed": list(change.changed)}
