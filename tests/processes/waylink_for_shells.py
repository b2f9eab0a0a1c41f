"""`waylink` for the shells of a test: a program that has the test's process carry the command out.

A process of its own for each command would take ten times as long.
"""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from backend.cli.command import REFUSED_ROWS
from tests.processes.service_process import invoke

# It says on stdout what the command says on either, and fails where that does.
_PROGRAM = """#!/bin/sh
printf '%s\\0' "$@" | exec curl -sS --fail-with-body --unix-socket "{socket}" --data-binary @- http://waylink/
"""
# Exit codes of what was done; with the second, rows of a file were refused, which pages show as well.
_DONE = (0, REFUSED_ROWS)
# What is typed where a command asks: a password, twice, or whether it is meant.
_TYPED = {
    ("user", "create"): "correct horse battery\n" * 2,
    ("user", "password"): "battery horse correct\n" * 2,
}


@contextmanager
def waylink_for_shells(folder: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """The program `waylink`, written into this folder; it works for the length of the block.

    `environment` has the settings of its service, so `waylink serve` has nothing left to do.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            arguments = sent.decode().split("\0")[:-1]
            status, said = 200, "It runs."
            if arguments != ["serve"]:
                typed = _TYPED.get((arguments[0], arguments[1]), "y\n")
                done = invoke(*arguments, environment=dict(environment), typed=typed)
                status, said = (200 if done.exit_code in _DONE else 500), done.output
            body = said.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def address_string(self) -> str:
            return "a shell"

        def log_message(self, *_: object) -> None:
            return

    folder.mkdir(parents=True, exist_ok=True)
    program, path = folder / "waylink", folder / "socket"
    program.write_text(_PROGRAM.format(socket=path))
    program.chmod(0o755)
    with socketserver.ThreadingUnixStreamServer(str(path), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        try:
            yield program
        finally:
            server.shutdown()
            thread.join()
