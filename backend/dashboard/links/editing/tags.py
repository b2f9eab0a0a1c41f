"""Tags in the form of a link: a box to tick for each, and a field for those that have none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from backend.dashboard.frame.blueprint import org_id
from backend.dashboard.frame.form import field, form
from backend.domain.errors import InvalidField
from backend.domain.fields.item_names import ItemName, NameTaken, TooManyItems, name_key
from backend.domain.ids import TagId
from backend.domain.links.tags import MOST_TAGS, Tag
from backend.storage.links.tags import create_tag, list_tags
from backend.web.current import resources

# Boxes to tick, besides those of tags that the link has; other tags are written.
MOST_BOXES = 40
# Of the field for more tags, in `Problems`.
MORE = "more_tags"
_HAD = "had_tags"


@dataclass(frozen=True, slots=True)
class TagChoices:
    """The part of the form about tags: those with boxes, which of them are ticked, and what is written.

    `had` are those that the link had when the form was made, so that what others change meanwhile stays.
    """

    boxes: Sequence[Tag]
    others: Sequence[Tag]
    ticked: frozenset[TagId]
    more: str
    had: Sequence[TagId]


async def choices_for(has: Iterable[TagId]) -> TagChoices:
    """The form for a link that has these tags."""
    had = list(has)
    return _choices(await list_tags(resources().database, org_id()), frozenset(had), "", had)


async def sent_choices() -> TagChoices:
    """The form that the current request sent."""
    tags = await list_tags(resources().database, org_id())
    ticked = frozenset(each.id for each in tags if form().get(f"tag-{each.id}"))
    had = [TagId(each) for each in field(_HAD).split()]
    return _choices(tags, ticked, field(MORE), had)


def _choices(tags: Sequence[Tag], ticked: frozenset[TagId], more: str, had: Sequence[TagId]) -> TagChoices:
    kept = {*ticked, *had}
    room = iter(range(MOST_BOXES))
    boxes = [each for each in tags if each.id in kept or next(room, None) is not None]
    shown = {each.id for each in boxes}
    return TagChoices(boxes, [each for each in tags if each.id not in shown], ticked, more, had)


async def chosen_names(choices: TagChoices) -> list[str]:
    """The names of all tags that a new link gets, as `tag_changes`."""
    ticked = [each.name for each in choices.boxes if each.id in choices.ticked]
    return [*ticked, *await _written(choices)]


async def tag_changes(choices: TagChoices) -> dict[str, Any]:
    """What the form changes of a link's tags: `add_tags` and `remove_tags`.

    Tags that are written and not there yet are made. Raises InvalidField.
    """
    names = await _written(choices)
    had = frozenset(choices.had)
    ticked = [each.name for each in choices.boxes if each.id in choices.ticked and each.id not in had]
    unticked = [each.name for each in choices.boxes if each.id in had and each.id not in choices.ticked]
    return {"add_tags": [*ticked, *names], "remove_tags": unticked}


async def _written(choices: TagChoices) -> list[str]:
    """The names in the field for more tags, all of which there are then."""
    names = [ItemName().parse(MORE, each) for each in choices.more.split(",") if each.strip()]
    known = {name_key(each.name) for each in (*choices.boxes, *choices.others)}
    for name in names:
        if name_key(name) not in known:
            await _make(name)
    return names


async def _make(name: str) -> None:
    try:
        with suppress(NameTaken):  # somebody else was faster
            await create_tag(resources().database, org_id(), name, None, resources().clock())
    except TooManyItems:
        raise InvalidField(MORE, f"would be one more than the {MOST_TAGS:,} that are possible") from None


def own_field(error: InvalidField) -> str:
    """The field of the form that an error is about."""
    return MORE if error.field in {"tags", "add_tags", "remove_tags"} else error.field
