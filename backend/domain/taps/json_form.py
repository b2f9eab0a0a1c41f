"""Taps as JSON, for REST and the command line."""

from __future__ import annotations

from typing import Any

from backend.domain.taps.tap import Tap


def tap_json(tap: Tap) -> dict[str, Any]:
    """A tap, with its situation."""
    at = tap.situation
    return {
        "device": at.device.value,
        "tapped_in": at.place.name,
        "has_app": at.has_app,
        "file": at.file.value if at.file else None,
        "effect": tap.effect.value,
        "address": tap.address,
        "why": list(tap.why),
    }
