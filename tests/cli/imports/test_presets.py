"""`waylink import` for the files of other services."""

from __future__ import annotations

from pathlib import Path

import httpx

from backend.domain.ids import OrgId
from backend.imports.other_services.presets import PRESETS
from tests.imports import services
from tests.processes.service_process import ServiceProcess, invoke


def test_a_file_of_a_service(tmp_path: Path, running: ServiceProcess, org_id: OrgId) -> None:
    """Links of a file of Dub lead where they led; what has no place is told, clicks are kept as history."""
    running.command("domain", "add", "go.dub.example", "--org", org_id)
    file = tmp_path / "dub.json"
    file.write_text(services.DUB)
    command = ("import", "dub", str(file), "--org", org_id, "--domain", f"{services.DOMAIN}=go.dub.example")
    dry = running.command(*command, "--dry-run")
    assert (dry["would_be_created"], dry["archived"]) == (2, 1)
    shown = invoke(*command, "--dry-run", environment=running.environment).stdout
    assert "go on working: 1. Here they are enabled as well, and have the tag `archived`." in shown
    done = running.command(*command)
    assert (done["created"], done["refused"]) == (2, 0)
    assert done["new_tags"] == ["spring", "archived"]
    headers, form = {"Host": "go.dub.example"}, {"password": "sesame"}
    answer = httpx.post(f"{running.base_url}/spring", headers=headers, data=form, timeout=60)
    assert answer.headers["Location"].startswith(
        "https://shop.example/sale?utm_source=mail&utm_campaign=spring"
    )
    old = httpx.get(f"{running.base_url}/old", headers={"Host": "go.dub.example"}, timeout=60)
    assert old.headers["Location"].startswith("https://shop.example/old?")
    [spring] = running.stored("links", domain="go.dub.example", path="spring")
    assert (spring["imported_clicks"]["count"], spring["imported_clicks"]["source"]) == (1042, "Dub")


def test_every_service_is_a_command(running: ServiceProcess) -> None:
    """The help of `waylink import` names each service, and each has a help of its own."""
    listed = invoke("import", "--help", environment=running.environment).stdout
    for name, preset in PRESETS.items():
        assert f"  {name} " in listed
        assert f"each link of {preset.service} in FILE" in " ".join(
            invoke("import", name, "--help", environment=running.environment).stdout.split()
        )
