"""The changes that can be made to many links at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quart import abort

from backend.dashboard.frame import form


@dataclass(frozen=True, slots=True)
class Action:
    """A change of many links: its names before and after, and the `changes` of a link's fields.

    `warning` tells what it does to visitors. Archived links stay as they are, unless it is `for_archived`.
    `fields` are further fields of the form, such as the tag.
    """

    name: str
    label: str
    done: str
    already: str
    warning: str
    changes: dict[str, Any]
    for_archived: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)


_STATES = {
    action.name: action
    for action in (
        Action(
            "enable", "Enable", "enabled", "were enabled before", "They redirect again.",
            {"is_enabled": True},
        ),
        Action(
            "disable", "Disable", "disabled", "were disabled before", "Visitors of them see an error page.",
            {"is_enabled": False},
        ),
        Action(
            "archive", "Archive", "archived", "were archived before",
            "Visitors of them see an error page. Their paths and their counts are kept.",
            {"is_archived": True}, for_archived=True,
        ),
        Action(
            "unarchive", "Unarchive", "out of the archive", "were not in the archive",
            "They are enabled or disabled as they were before.", {"is_archived": False}, for_archived=True,
        ),
    )
}  # fmt: skip


def chosen_action() -> Action:
    """The action that the current request's form names. Answers 400 if there is no such one."""
    name, tag = form.field("action"), form.field("tag")
    match name:
        case "add_tag":
            words = ("Tag", f"tagged “{tag}”", "were before", f"They get the tag “{tag}”.")
        case "remove_tag":
            words = ("Untag", f"without the tag “{tag}”", "were before", f"They lose the tag “{tag}”.")
        case _:
            return _STATES.get(name) or abort(400)
    return Action(name, *words, {f"{name}s": [tag]}, for_archived=True, fields={"tag": tag})
