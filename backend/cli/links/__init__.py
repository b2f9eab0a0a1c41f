"""`waylink links`, a file for each of its subjects."""

from backend.cli.links.check import check
from backend.cli.links.group import links
from backend.cli.links.hold import hold, list_held, release
from backend.cli.links.reports import list_reports

__all__ = ["check", "hold", "links", "list_held", "list_reports", "release"]
