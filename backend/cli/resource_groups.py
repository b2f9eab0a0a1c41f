"""The groups of commands that follow from resources alone."""

from __future__ import annotations

from backend.cli.resource_group import CommandNames, resource_group
from backend.domain.analytics.segments import SEGMENTS
from backend.domain.annotations.annotation import ANNOTATIONS

annotation = resource_group(
    ANNOTATIONS,
    CommandNames(
        group="annotation",
        meaning="Annotations: notes at a day or a time, which charts show.",
        list="List an organization's notes, the oldest first.",
        add="Note what happened at a day or a time.",
    ),
)

segment = resource_group(
    SEGMENTS,
    CommandNames(
        group="segment",
        meaning="Segments: filters of the overview that are saved under a name.",
        list="List an organization's segments by name.",
        add="Save filters of the overview as a segment.",
    ),
)
