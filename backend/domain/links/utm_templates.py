"""UTM templates: sets of UTM fields with a name, which fill a new link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.ids import OrgId, TemplateId
from backend.domain.links.links import UTM_FIELDS

# Of an organization. Two that are made at the same moment may exceed it.
MOST_TEMPLATES = 500
# The field of a new link that names a template.
TEMPLATE_FIELD = "utm_template"


@dataclass(frozen=True, slots=True)
class UtmTemplate:
    """A template. `utm` maps names of UTM fields to values, only for fields that are set."""

    id: TemplateId
    org_id: OrgId
    name: str
    utm: dict[str, str]
    created_at: datetime


def changed_utm(utm: Mapping[str, str], changes: Mapping[str, Any]) -> dict[str, str]:
    """The UTM fields after these changes, where None clears one."""
    merged = {name: changes[name] if name in changes else utm.get(name) for name in UTM_FIELDS}
    return {name: value for name, value in merged.items() if value is not None}
