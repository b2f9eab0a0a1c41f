"""`python -m tests.faults.few_files`: `waylink serve --json`, which may have few files and connections."""

from __future__ import annotations

import resource

from backend.cli import main

FILES = 128

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    main(["serve", "--json"], prog_name="waylink")
