"""What befell files of columns on a host, told by the process that has them to whoever asks beside it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from backend.domain.ids import OrgId
from backend.system.whole_file import whole_or_nothing

_NAME = "troubles.json"
_KEPT = timedelta(days=7)
_NOTED_EVERY = timedelta(minutes=1)
_logger = logging.getLogger(__name__)


class Remedy(StrEnum):
    """What was done about a file with trouble."""

    OPENED_AGAIN = "opened again"
    MADE_ANEW = "made anew from what MongoDB has"
    # The machine refuses it, and it may be good.
    NONE = "left as it is"


@dataclass(frozen=True, slots=True)
class FileTrouble:
    """What befell the file of an organization last, what was done, and how often since the first time.

    `made_anew` is how often it was made anew for that. All that is older than a week is forgotten.
    """

    org_id: OrgId
    file: str
    why: str
    at: datetime
    remedy: Remedy
    times: int = 1
    made_anew: int = 0


class FileTroubles:
    """The troubles of a folder's files. Only the process that has the folder notes any."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME

    def note(self, org_id: OrgId, file: str, why: str, now: datetime, remedy: Remedy) -> None:
        """Note that the organization's file had trouble, and what was done. It is logged, too.

        Of a file that nothing was done about, that is noted once a minute, however many ask.
        """
        known = self.read(now)
        made_anew = int(remedy is Remedy.MADE_ANEW)
        trouble = FileTrouble(org_id, file, why, now, remedy, made_anew=made_anew)
        if former := known.get(org_id):
            if remedy is former.remedy is Remedy.NONE and now - former.at < _NOTED_EVERY:
                return
            trouble = replace(trouble, times=former.times + 1, made_anew=former.made_anew + made_anew)
        _logger.error("The file %s of the organization %s is %s: %s", file, org_id, remedy.value, why)
        try:
            self._write({**known, org_id: trouble})
        except OSError as error:  # as on a full disk
            _logger.warning("%s can't be written: %s", self._path, error)

    def read(self, now: datetime) -> Mapping[OrgId, FileTrouble]:
        """The troubles of the last week, by the organizations. What can't be read is taken for none."""
        try:
            told = json.loads(self._path.read_bytes())
            found = [_parsed(one) for one in told]
        except (OSError, ValueError, TypeError, KeyError):
            return {}
        return {one.org_id: one for one in found if now - one.at < _KEPT}

    def _write(self, troubles: Mapping[OrgId, FileTrouble]) -> None:
        told = [asdict(one) | {"at": one.at.isoformat()} for one in troubles.values()]
        with whole_or_nothing(self._path) as file:
            file.write(json.dumps(told).encode())


def _parsed(told: Mapping[str, Any]) -> FileTrouble:
    return FileTrouble(**{**told, "at": datetime.fromisoformat(told["at"]), "remedy": Remedy(told["remedy"])})
