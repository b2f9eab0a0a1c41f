"""The version of Waylink; pyproject.toml takes it from here."""

from __future__ import annotations

VERSION = "0.2.0"
