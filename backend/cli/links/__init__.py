"""`waylink links`, a file for each of its subjects."""

from backend.cli.links.group import links

__all__ = ["links"]
