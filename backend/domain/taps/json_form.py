"""Taps as JSON, for REST and the command line."""

from __future__ import annotations

from typing import Annotated, TypedDict

from backend.domain.fields.shapes import json_of
from backend.domain.taps.devices import CachedFile, TapDevice
from backend.domain.taps.tap import Effect, Tap


class TapJson(TypedDict):
    """What a tap does in a situation."""

    device: TapDevice
    tapped_in: str
    has_app: bool
    file: CachedFile | None
    effect: Effect
    address: str | None
    why: list[str]


class ExplainedTapJson(TapJson):
    """What a tap does in a situation, and whether the query changes that."""

    differs: Annotated[bool, "Whether it does otherwise without the query’s behaviours."]


class ExplainedTapsJson(TypedDict):
    """What taps on a link do."""

    short_url: str
    taps: list[ExplainedTapJson]


def tap_json(tap: Tap) -> TapJson:
    """A tap, with its situation."""
    at = tap.situation
    return json_of(TapJson, tap, device=at.device, tapped_in=at.place.name, has_app=at.has_app, file=at.file)
