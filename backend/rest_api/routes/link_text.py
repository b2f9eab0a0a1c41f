"""The part of a path that should be a link's id, for the framework."""

from __future__ import annotations

from werkzeug.routing import BaseConverter


class LinkText(BaseConverter):
    """Any text but the last words of the paths links/page, links/info, links/bulk and links/qr-sheet.

    So another method at one of these paths is answered 405, instead of an error about a link's id."""

    regex = "(?!(?:page|info|bulk|qr-sheet)$)[^/]+"
    part_isolating = True
