"""What befell files of columns on a host, told by the process that has them to whoever asks beside it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from backend.domain.ids import OrgId
from backend.system.whole_file import whole_or_nothing

_NAME = "troubles.json"
_KEPT = timedelta(days=7)
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FileTrouble:
    """What befell the file of an organization last, and how often since the first time.

    `made_anew` is how often it was made anew for that. All that is older than a week is forgotten.
    """

    org_id: OrgId
    file: str
    why: str
    at: datetime
    times: int = 1
    made_anew: int = 0


class FileTroubles:
    """The troubles of a folder's files. Only the process that has the folder notes any."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME

    def note(self, org_id: OrgId, file: str, why: str, now: datetime, *, is_made_anew: bool) -> None:
        """Note that the organization's file had trouble, or was made anew. It is logged, too."""
        told = "is made anew" if is_made_anew else "is closed and opened again"
        _logger.error("The file %s of the organization %s %s: %s", file, org_id, told, why)
        known = self.read(now)
        former = known.get(org_id)
        trouble = FileTrouble(org_id, file, why, now, made_anew=int(is_made_anew))
        if former:
            trouble = replace(trouble, times=former.times + 1, made_anew=former.made_anew + trouble.made_anew)
        try:
            self._write({**known, org_id: trouble})
        except OSError as error:  # as on a full disk
            _logger.warning("%s can't be written: %s", self._path, error)

    def read(self, now: datetime) -> Mapping[OrgId, FileTrouble]:
        """The troubles of the last week, by the organizations. What can't be read is taken for none."""
        try:
            told = json.loads(self._path.read_bytes())
            found = [FileTrouble(**{**one, "at": datetime.fromisoformat(one["at"])}) for one in told]
        except (OSError, ValueError, TypeError, KeyError):
            return {}
        return {one.org_id: one for one in found if now - one.at < _KEPT}

    def _write(self, troubles: Mapping[OrgId, FileTrouble]) -> None:
        told = [asdict(one) | {"at": one.at.isoformat()} for one in troubles.values()]
        with whole_or_nothing(self._path) as file:
            file.write(json.dumps(told).encode())
