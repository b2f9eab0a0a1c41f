"""What the service's user may do in MongoDB: the rights that docs/production.md lists, and no others."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pymongo import MongoClient

from backend.storage.embedded.mongodb import EmbeddedMongoDB
from tests.faults.links import follow, new_link, wait_for_clicks
from tests.processes.service_process import invoke, service_process

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "production.md"
_REFUSED = re.compile(r"not authorized on (\w+) to execute command \{ (\w+)")


def roles() -> list[dict[str, str]]:
    """The roles in the command of docs/production.md that makes the user."""
    listed = re.search(r"roles: (\[.*?\])", PAGE.read_text(), re.DOTALL)
    assert listed
    found: list[dict[str, str]] = json.loads(re.sub(r"(\w+):", r'"\1":', listed[1]))
    return found


@dataclass(frozen=True, slots=True)
class Server:
    """A MongoDB that asks for passwords: its log, the URI of a user, and a client of who may give roles."""

    log: Path
    uri: str
    admin: MongoClient[dict[str, object]]

    def refused(self) -> list[tuple[str, str]]:
        """The commands that MongoDB refused for want of rights so far, with their databases."""
        return [(found[1], found[2]) for found in _REFUSED.finditer(self.log.read_text())]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    """Its user has the first role of the page."""
    folder = tmp_path / "data" / "mongodb"
    async with EmbeddedMongoDB(folder) as mongodb:
        with MongoClient[dict[str, object]](mongodb.uri) as admin:
            admin.admin.command("createUser", "waylink", pwd="kites", roles=roles()[:1])
            uri = f"mongodb://waylink:kites@127.0.0.1:{mongodb.port}/?replicaSet=waylink&authSource=admin"
            yield Server(folder / "mongod.log", uri, admin)


async def test_the_listed_rights_are_enough(server: Server, tmp_path: Path) -> None:
    """With the roles of docs/production.md the service starts, makes a link, redirects and counts, twice; the
    doctor and an archive work too, and MongoDB refuses nothing. Only the doctor needs the second role."""
    for number in range(2):
        with service_process(tmp_path / f"host-{number}", WAYLINK_MONGODB_URI=server.uri) as service:
            if number == 0:
                link = new_link(service)
            assert follow(service, link["path"]) == 302
            wait_for_clicks(service, link, number + 1)
            org_id = service.stored("organizations")[0]["_id"]
            service.command("export", "--org", org_id, "--output", str(tmp_path / f"{number}.jsonl"))
            doctor = invoke("doctor", environment=service.environment)
            assert doctor.exit_code in {0, 1, 3}, doctor.stderr
            # The service that comes next ends what a former one left open, which needs a right of its own.
            service.process.kill()
        if number == 0:
            refused = server.refused()
            assert set(refused) == {("admin", "replSetGetStatus")}
            server.admin.admin.command("grantRolesToUser", "waylink", roles=roles()[1:])
    assert server.refused() == refused
