"""The files of this folder share a running service."""

from tests.cli.shared_service import running

__all__ = ["running"]
