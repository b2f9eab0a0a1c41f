"""The service, imported as its supervisor does before it forks its workers; see service.py."""

from __future__ import annotations

import os
from importlib import import_module
from tempfile import TemporaryDirectory

from backend.operations.shared_counts import SHARED_FOLDER
from backend.serving.job import load_application
from backend.settings import Settings
from backend.storage.analytics import process_start
from tests.processes.forked.analytics import start_forked
from tests.processes.hashes import QUICK

# What counts is made as the service is imported, and only counts for several processes with a folder for it.
# Each service has a folder of its own.
_folder = TemporaryDirectory(prefix="waylink-")
os.environ[SHARED_FOLDER] = _folder.name
load_application(Settings())
process_start.start_process = start_forked
QUICK.use()
# What followers import, and the supervisor.
for name in ("backend.cli.serve", "httpx", "psycopg"):
    import_module(name)
