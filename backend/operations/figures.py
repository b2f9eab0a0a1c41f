"""Metrics of the files that figures are made from."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from prometheus_client import Gauge

from backend.storage.analytics.file_troubles import FileTroubles

_TROUBLES = Gauge(
    "waylink_figures_file_troubles",
    "Times within seven days that a file of figures could not be used, or was made anew.",
    ["organization", "file"],
    multiprocess_mode="livemax",
)


def troubles_of_files(folder: Path, now: Callable[[], datetime]) -> Callable[[], None]:
    """What reads the troubles of the host's files into the metrics."""
    troubles = FileTroubles(folder)

    def report() -> None:
        _TROUBLES.clear()
        for trouble in troubles.read(now()).values():
            _TROUBLES.labels(trouble.org_id, trouble.file).set(trouble.times)

    return report
