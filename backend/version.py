"""The version of Waylink; pyproject.toml and the browser SDK (by `make sdk`) take it from here."""

from __future__ import annotations

VERSION = "1.0.0"
