"""Whose files a command leaves in the folder of data: the service's user must be able to read them."""

from __future__ import annotations

import os
import pwd

from backend.domain.errors import OperatorError
from backend.settings import Settings
from backend.system.folder_owner import future_owner_of, owner_of, take_owner


class NotTheOwner(OperatorError):
    """The folder of data belongs to somebody else, whom the command can't take."""

    def __init__(self, settings: Settings, owner: int | None) -> None:
        name = "another user" if owner is None else _name_of(owner)
        as_owner = "as that user" if owner is None else f"by `sudo -u {name} waylink …`"
        super().__init__(
            f"{settings.data_dir.absolute()} belongs to {name}, and {_name_of(os.geteuid())} can't work as "
            f"{name}: run the command {as_owner}, or as root, who takes the folder's owner."
        )


def act_as_owner(settings: Settings, *, opens_callers_files: bool) -> None:
    """Go on as the owner of the folder of data, before anything is opened or written there.

    With `opens_callers_files`, the files that root names on the command line can still be opened. Raises
    NotTheOwner.
    """
    if os.geteuid():
        _refuse_other(settings)
        return
    owner = future_owner_of(settings.data_dir)
    if owner:
        try:
            take_owner(owner, opens_callers_files=opens_callers_files)
        except OSError:  # root of a container without the right
            raise NotTheOwner(settings, owner) from None


def _refuse_other(settings: Settings) -> None:
    """Raise NotTheOwner for another user who would need the folder's own MongoDB."""
    if settings.mongodb_uri:
        return
    try:
        owner = owner_of(settings.data_dir)
    except FileNotFoundError:  # it will be this user's
        return
    except OSError:
        raise NotTheOwner(settings, None) from None
    if owner != os.geteuid():
        raise NotTheOwner(settings, owner)


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:  # as in containers
        return f"#{uid}"
