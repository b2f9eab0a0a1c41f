"""The list of all resources."""

from __future__ import annotations

from typing import Any

from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.analytics.segments import SEGMENTS
from backend.domain.annotations.annotation import ANNOTATIONS
from backend.domain.resources.resource import Resource

RESOURCES: tuple[Resource[Any], ...] = (SAVED_FUNNELS, ANNOTATIONS, SEGMENTS)
