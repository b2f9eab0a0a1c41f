"""`waylink limit`: what limits refused."""

from __future__ import annotations

import httpx

from tests.conftest import ServiceStarter
from tests.polling import wait_for


def test_what_limits_refused(start_service: ServiceStarter) -> None:
    """A row for each limit, with its requests and the last of them; nothing of other organizations."""
    with start_service(WAYLINK_RATE_LIMIT="1") as service:
        org_id, other = (service.command("organization", "create", "Acme")["id"] for _ in range(2))
        key = service.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
        with httpx.Client(base_url=service.base_url, headers={"API-KEY": key}, timeout=60) as client:
            answers = [client.get("/serviceCore/pa/v1/links/page").status_code for _ in range(3)]
        assert answers == [200, 429, 429]
        rows = wait_for(
            lambda: service.command("limit", "refused", "--org", org_id)["refused"], "nothing is told"
        )
        assert [(row["limit"], row["requests"]) for row in rows] == [("rest_of_key", 2)]
        assert service.command("limit", "refused", "--org", other) == {"refused": []}
        assert "There is no organization" in service.refusal("limit", "refused", "--org", "nobody")
