"""Commands about link domains."""

from backend.cli.domains.group import domain

__all__ = ["domain"]
