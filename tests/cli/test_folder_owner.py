"""Commands that root runs leave nothing in the folder of data that the service's user can't read."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.processes.service_process import environment_of, own_database

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or sys.platform != "linux", reason="only root of Linux works for another user"
)
# A user without a name, as the one of a container, and one with a name and a home.
NAMELESS, NAMED = 54_321, 65_534
_ROOT = Path(__file__).parents[2]


class Installation:
    """An installation whose folder of data is another user's, beside a folder of root's."""

    def __init__(self, place: Path, owner: int, settings: Mapping[str, str]) -> None:
        self.owner = owner
        self.data, self.of_root = place / "data", place / "root"
        self.data.mkdir(mode=0o700)
        os.chown(self.data, owner, owner)
        self.of_root.mkdir(mode=0o755)
        self.settings = {"WAYLINK_DATA_DIR": str(self.data), **settings}
        file = self.of_root / "waylink.env"
        file.write_text("".join(f'{name}="{value}"\n' for name, value in self.settings.items()))
        file.chmod(0o600)

    def as_root(self, *arguments: str) -> str:
        """What a command of root prints, in a folder of root's and with a file of settings of root's."""
        done = _run(("--env-file", "waylink.env", *arguments), self.of_root, 0, {})
        assert done.returncode == 0, done.stderr
        return done.stdout

    def as_user(self, user: int, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command of this user."""
        return _run(arguments, Path("/"), user, self.settings)

    def as_owner(self, *arguments: str) -> str:
        """What a command of the folder's owner prints."""
        done = self.as_user(self.owner, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def other_users(self) -> set[int]:
        """The owners of what is in the folder of data, besides the folder's own."""
        return {path.lstat().st_uid for path in self.data.rglob("*")} - {self.owner}


def _run(
    arguments: tuple[str, ...], folder: Path, user: int, settings: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    environment = environment_of(folder, PYTHONPATH=str(_ROOT))
    del environment["WAYLINK_DATA_DIR"]
    return subprocess.run(
        (sys.executable, "-P", "-m", "backend.cli", *arguments), cwd=folder, env={**environment, **settings},
        user=user, group=user, extra_groups=[], capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody may enter."""
    folder = Path(tempfile.mkdtemp(prefix="waylink-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


def test_the_own_mongodb_is_the_owner_s(place: Path) -> None:
    """A command of root starts MongoDB as the owner of its folder, who goes on with it."""
    installation = Installation(place, NAMED, {})
    installation.as_root("organization", "create", "Shop")
    assert installation.other_users() == set()
    assert "Shop" in installation.as_owner("organization", "list")


def test_figures_are_the_owner_s_and_named_files_root_s(place: Path, mongodb_uri: str) -> None:
    """The owner goes on with figures that root had made, by this Waylink's code, whatever lies in the current
    folder. Files that root names are read where only root may read, and belong to root."""
    with own_database(mongodb_uri) as database:
        installation = Installation(place, NAMELESS, database)
        plant_code(installation.of_root)
        made = json.loads(installation.as_root("organization", "create", "Shop", "--json"))
        org = f"--org={made['id']}"
        question = ("report", "analytics", org, "--from=2026-03-01", "--to=2026-03-08", "--measures=clicks")
        installation.as_root(*question)
        links = installation.of_root / "links.csv"
        links.write_text("domain,destination_url,link_name\nother.example,https://shop.example/,A\n")
        links.chmod(0o600)
        installation.as_root("export", org, "--output=archive.jsonl")
        refused = _run(("--env-file", "waylink.env", "import", "csv", links.name, org), links.parent, 0, {})
        assert "domain other.example is not configured" in refused.stdout
        assert installation.other_users() == set()
        assert {path.name: path.stat().st_uid for path in links.parent.iterdir()} == dict.fromkeys(
            ["backend", "archive.jsonl", "links.csv", "links.refused.csv", "waylink.env"], 0
        )
        installation.as_owner(*question)


def test_what_root_names_is_root_s_also_beside_others(place: Path, mongodb_uri: str) -> None:
    """Whatever a command writes, also into a folder in which all users have files, such as /tmp; what is in
    the service's own folder stays the service's."""
    with own_database(mongodb_uri) as database:
        installation = Installation(place, NAMED, database)
        shared, own = place / "shared", installation.data / "feeds"
        shared.mkdir()
        shared.chmod(0o1777)
        made = json.loads(installation.as_root("organization", "create", "Shop", "--json"))
        org = f"--org={made['id']}"
        links = installation.of_root / "links.csv"
        links.write_text("domain,destination_url,link_name\ngo.example,https://shop.example/,A\n")
        installation.as_root("domain", "add", "go.example", org)
        installation.as_root("import", "csv", str(links), org)
        installation.as_root("export", org, f"--output={shared / 'archive.jsonl'}")
        installation.as_root("export", org, "--clicks=parquet", f"--output={shared / 'clicks.parquet'}")
        for _ in range(2):
            for form, to in (("csv", "lines.csv"), ("parquet", "rows/of")):
                installation.as_root("follow", org, f"--into={form}", f"--to={shared / to}", "--once")
        installation.as_root("follow", org, "--into=parquet", f"--to={own}", "--once")
        written = [path for path in shared.rglob("*") if path.is_file()]
        assert {path.suffix for path in written} == {".jsonl", ".csv", ".cursor", ".lock", ".parquet"}
        assert {path.stat().st_uid for path in shared.rglob("*")} == {0}
        assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o600}
        assert [len(list(folder.rglob("*.parquet"))) for folder in (shared / "rows", own)] == [1, 1]
        assert installation.other_users() == set()


def plant_code(folder: Path) -> None:
    """Put code of somebody else into the folder, which Python would run where it looks there first."""
    package = folder / "backend"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('the code of somebody else')")


def test_another_user_is_told_whose_the_folder_is(place: Path) -> None:
    """Who is neither root nor the owner is refused, before anything is opened, and told what to do."""
    installation = Installation(place, NAMED, {})
    for command in (("organization", "list"), ("doctor",), ("serve",)):
        done = installation.as_user(NAMELESS, *command)
        assert done.returncode == 1
        told = done.stdout + done.stderr
        assert f"{installation.data} belongs to " in told
        assert "or as root, who takes the folder's owner" in told
    assert list(installation.data.iterdir()) == []
