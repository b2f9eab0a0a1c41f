"""Tags in the form of a link: checkboxes, and a text field for tags that have none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from backend.dashboard.frame.blueprint import org_id
from backend.dashboard.frame.form import field, form
from backend.domain.errors import InvalidField, TooManyItems
from backend.domain.fields.item_names import ItemName, NameTaken, name_key
from backend.domain.ids import TagId
from backend.domain.links.tags import Tag
from backend.storage.driver.guards import unguarded
from backend.storage.links.tags import create_tag, list_tags
from backend.web.current import resources

# Checkboxes, besides those of tags that the link has. The names of other tags are typed.
MOST_BOXES = 40
# The name of the field for more tags.
MORE = "more_tags"
_HAD = "had_tags"


@dataclass(frozen=True, slots=True)
class TagChoices:
    """The part of the form about tags: those with checkboxes, those that are `ticked`, and `more` as typed.

    `had` are the link's tags when the form was rendered. Only differences from them are stored, so that
    changes by others meanwhile stay.
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
    ticked = frozenset(tag.id for tag in tags if form().get(f"tag-{tag.id}"))
    had = [TagId(tag_id) for tag_id in field(_HAD).split()]
    return _choices(tags, ticked, field(MORE), had)


def _choices(tags: Sequence[Tag], ticked: frozenset[TagId], more: str, had: Sequence[TagId]) -> TagChoices:
    always_shown = {*ticked, *had}
    room = iter(range(MOST_BOXES))
    boxes = [tag for tag in tags if tag.id in always_shown or next(room, None) is not None]
    shown = {tag.id for tag in boxes}
    return TagChoices(boxes, [tag for tag in tags if tag.id not in shown], ticked, more, had)


async def chosen_names(choices: TagChoices) -> list[str]:
    """The names of all tags that a new link gets. Makes typed tags that do not exist. Raises InvalidField."""
    ticked = [tag.name for tag in choices.boxes if tag.id in choices.ticked]
    return [*ticked, *await _typed_names(choices)]


async def tag_changes(choices: TagChoices) -> dict[str, Any]:
    """The form's changes of a link's tags: `add_tags` and `remove_tags`.

    Makes typed tags that do not exist. Raises InvalidField.
    """
    names = await _typed_names(choices)
    had = frozenset(choices.had)
    ticked = [tag.name for tag in choices.boxes if tag.id in choices.ticked and tag.id not in had]
    unticked = [tag.name for tag in choices.boxes if tag.id in had and tag.id not in choices.ticked]
    return {"add_tags": [*ticked, *names], "remove_tags": unticked}


async def _typed_names(choices: TagChoices) -> list[str]:
    """The names in the field for more tags. Makes the tags that do not exist."""
    names = [ItemName().parse(MORE, name) for name in choices.more.split(",") if name.strip()]
    existing = {name_key(tag.name) for tag in (*choices.boxes, *choices.others)}
    for name in names:
        if name_key(name) not in existing:
            await _make(name)
    return names


async def _make(name: str) -> None:
    """Make the tag, which stays also if the form is refused."""
    try:
        with unguarded(), suppress(NameTaken):  # somebody else was faster
            await create_tag(resources().database, org_id(), name, None, resources().clock())
    except TooManyItems as error:
        raise InvalidField(MORE, error.rule) from None


def field_of(error: InvalidField) -> str:
    """The field of the form that an error is about."""
    return MORE if error.field in {"tags", "add_tags", "remove_tags"} else error.field
