"""`python -m backend.cli` is `waylink`."""

from __future__ import annotations

from backend.cli import main

main(prog_name="waylink")
