"""`waylink funnel`: saved funnels and others, as tables and as JSON."""

from __future__ import annotations

import json

import httpx

from tests.processes.service_process import ServiceProcess, invoke

STEPS = [{"kind": "lead"}, {"kind": "event", "name": "tried"}, {"kind": "conversion"}]


def test_a_funnel_is_listed_and_asked(running: ServiceProcess) -> None:
    """By its name with other days and groups, and by steps; a name or step that is not known is said."""
    org_id = running.command("organization", "create", "Acme")["id"]
    headers = {"API-KEY": running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]}
    api = f"{running.base_url}/serviceCore/pa/v1"
    saved = httpx.post(f"{api}/funnels", json={"name": "Trial", "steps": STEPS}, headers=headers, timeout=60)
    assert saved.status_code == 201, saved.text
    for customer, day in (("ada", "05"), ("bob", "06")):
        lead = {"customer_id": customer, "occurred_at": f"2026-01-{day}T10:00:00Z"}
        assert httpx.post(f"{api}/leads", json=lead, headers=headers, timeout=60).status_code == 200
    tried = {"customer_id": "ada", "name": "tried", "occurred_at": "2026-01-08T13:30:00Z"}
    assert httpx.post(f"{api}/events", json=tried, headers=headers, timeout=60).status_code == 200
    assert running.command("funnel", "list", "--org", org_id)["funnels"] == [saved.json()]

    days = ("--org", org_id, "--from", "2026-01-01", "--to", "2026-02-01", "--by", "customer")
    answer = running.command("funnel", "ask", "Trial", *days, "--group-by", "campaign")
    assert [step["count"] for step in answer["steps"]] == [2, 1, 0]
    assert answer["groups"][0]["kind"] == "not_credited"
    steps = ("--step", "lead", "--step", json.dumps(STEPS[1]), "--step", "conversion")
    given = invoke("funnel", "ask", *days, *steps, environment=running.environment)
    assert given.exit_code == 0, given.stderr
    lines = [line.split() for line in given.stdout.splitlines()]
    assert lines[1] == ["1", "lead", "2", "100.0", "%", "-", "1", "-", "-"]
    assert lines[2][:8] == ["2", "event", "tried", "1", "50.0", "%", "50.0", "%"]
    assert "3 days 3 h" in given.stdout
    assert "Note: A customer, with all devices" in given.stderr

    unknown = invoke("funnel", "ask", "Buying", "--org", org_id, environment=running.environment)
    assert (unknown.exit_code, "There is no funnel Buying. Saved are: Trial." in unknown.stderr) == (1, True)
    wrong = invoke(
        "funnel", "ask", *days, "--step", "lead", "--step", "visit", environment=running.environment
    )
    assert "--step [1].kind must be one of click" in wrong.stderr
