"""The part of a path that should be a link's id."""

from __future__ import annotations

from werkzeug.routing import BaseConverter


class LinkText(BaseConverter):
    """Anything but the names of other paths, which answer to their own methods only."""

    regex = "(?!(?:page|info|bulk)$)[^/]+"
    part_isolating = True
