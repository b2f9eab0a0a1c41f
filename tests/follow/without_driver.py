"""`python -m tests.follow.without_driver`: `waylink` where PostgreSQL's driver is not installed."""

from __future__ import annotations

import sys

assert "backend.cli.feed.follow" not in sys.modules
sys.modules["psycopg"] = None  # type: ignore[assignment]

if __name__ == "__main__":
    from backend.cli import main

    main(prog_name="waylink")
