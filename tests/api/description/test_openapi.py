"""The OpenAPI document, and the service held against it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx

from backend.app import Service
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.measures import Measure
from backend.json_api import error_table
from backend.json_api.json_body import MAX_BODY_BYTES
from backend.rest_api.openapi.operations import OPERATIONS
from tests.api.description.tried_by_others import TRIED_BY_OTHERS
from tests.api.link_calls import API
from tests.conftest import ServiceStarter

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
NO_OBJECT = error_table.BODY_NOT_AN_OBJECT.body()
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "wrong_data_is_told",
    "ignored_auth",
)
CONFIGURATION = f"""
# They are sought after each operation, and nobody reads them.
warnings = false

# Which methods an operation has, test_every_route_is_documented knows.
[phases.coverage]
unexpected-methods = []

[[operations]]
include-operation-id = {[*TRIED_BY_OTHERS]}
phases.coverage.enabled = false

[[operations]]
exclude-operation-id = {[*TRIED_BY_OTHERS]}
phases.examples.enabled = false

# Whoever waits is answered in half a minute.
[[operations]]
include-operation-id = "read_events"
parameters.wait = 0
"""
# Each request looks through all of it for proxies, and for a file of passwords. Hypothesis would load Trio,
# which nothing here uses, and look at each character of Unicode, where no earlier run has stored what it saw.
ENVIRONMENT = {
    "PATH": os.defpath,
    "HYPOTHESIS_NO_PLUGINS": "1",
    "HYPOTHESIS_STORAGE_DIRECTORY": str(ROOT / ".hypothesis"),
    "PYTHONPATH": str(ROOT),
    "NETRC": "",
    "MAX_BODY_BYTES": str(MAX_BODY_BYTES),
    "SCHEMATHESIS_HOOKS": "tests.api.description.schemathesis_checks",
}


async def test_every_route_is_documented(client: httpx.AsyncClient, service: Service) -> None:
    """The document has every route of the REST API with its method, and no others."""
    document = (await client.get(f"{API}/openapi.json")).json()
    described = {
        (operation["operationId"], method.upper())
        for methods in document["paths"].values()
        for method, operation in methods.items()
    }
    routes = {
        (rule.endpoint.removeprefix("rest."), method)
        for rule in service.api.url_map.iter_rules()
        if rule.endpoint.startswith("rest.")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert document["openapi"].startswith("3.1")
    assert described == routes


async def test_which_operations_are_the_contract_s(client: httpx.AsyncClient) -> None:
    """Seven show codes in the examples of their errors; all others show the field that is at fault."""
    document = (await client.get(f"{API}/openapi.json")).json()
    to_the_letter = {
        operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
        for errors in [json.dumps(answers_of(operation, document))]
        if '"INVALID_VALUE"' in errors.replace(json.dumps(NO_OBJECT), "") or '"page"' in errors
    }
    assert to_the_letter == {
        "create_link", "update_link", "change_status", "links_info", "links_page", "click_analytics",
        "install_analytics",
    }  # fmt: skip


async def test_answers_may_grow(client: httpx.AsyncClient) -> None:
    """Within version 1 there are additions, so no answer is described as having no other fields."""
    document = (await client.get(f"{API}/openapi.json")).json()
    schemas = document["components"]["schemas"]
    answers = [
        answer["content"]
        for methods in document["paths"].values()
        for operation in methods.values()
        for answer in answers_of(operation, document)
        if "content" in answer
    ]
    names, waiting = set[str](), referred_to(answers)
    while waiting:
        names |= waiting
        waiting = referred_to([schemas[name] for name in waiting]) - names
    assert {"WholeLink", "ItemResults", "ErrorAnswer", "ErrorDetail"} <= names
    closed = '"additionalProperties": false'
    assert closed not in json.dumps([answers, *(schemas[name] for name in names)])


async def test_what_operations_share_is_described_once(client: httpx.AsyncClient) -> None:
    """No answer with an error stands at two operations, and filters of figures have one schema."""
    document = (await client.get(f"{API}/openapi.json")).json()
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    answers = [json.dumps(answer) for item in operations for answer in item["responses"].values()]
    errors = [answer for answer in answers if "/schemas/Error" in answer]
    assert errors
    assert len(set(errors)) == len(errors)
    bodies = json.dumps([operation.get("requestBody") for operation in operations])
    assert bodies.count("/schemas/AnalyticsFilters") == 4
    assert '"not"' not in bodies


def answers_of(operation: dict[str, Any], document: dict[str, Any]) -> list[dict[str, Any]]:
    """All that an operation may answer, those too that it refers to."""
    shared = document["components"]["responses"]
    answers = operation["responses"].values()
    return [shared[answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer for answer in answers]


async def test_docs_name_everything_that_can_be_sent(client: httpx.AsyncClient) -> None:
    """Each path, and each parameter and field of a body, stands on one of these pages."""
    document = (await client.get(f"{API}/openapi.json")).json()
    names = ("rest-api", "webhooks", "feed", "teams", "audit")
    pages = "".join((DOCS / f"{name}.md").read_text(encoding="utf-8") for name in names)
    missing = set()
    for path, methods in document["paths"].items():
        if not re.search(re.sub(r"\\{\w+\\}", r"[^`\\s?]+", re.escape(path)), pages):
            missing.add(path)
        for operation in methods.values():
            sent = {*fields_of(operation.get("requestBody"), document["components"]["schemas"])}
            sent |= {item["name"] for item in operation.get("parameters", []) if item["in"] != "path"}
            missing |= {name for name in sent if not re.search(rf'[`"?&]{name}[`"=]', pages)}
    assert missing == set()


def fields_of(schema: object, components: dict[str, Any]) -> Iterator[str]:
    """The names of all fields of the objects that a schema describes."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for name in re.findall(r"^#/components/schemas/(\w+)$", str(schema.get("$ref"))):
            yield from fields_of(components[name], components)
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from fields_of(part, components)


def referred_to(schema: object) -> set[str]:
    """The names of the components that it refers to."""
    return set(re.findall(r"#/components/schemas/(\w+)", json.dumps(schema)))


async def test_addresses_may_have_international_hosts(client: httpx.AsyncClient) -> None:
    """A field that takes an IDN is an `iri`: validators refuse it as a `uri`. A destination may have
    places that visitors fill in, which are no part of an `iri`."""
    document = (await client.get(f"{API}/openapi.json")).json()
    body = document["paths"]["/create-link"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert '"format": "iri"' in json.dumps(body["properties"]["social_image_url"])
    assert "format" not in body["properties"]["destination_url"]
    assert '"uri"' not in json.dumps(document)


async def test_the_words_of_reports_are_said(client: httpx.AsyncClient) -> None:
    """Each measure says what it counts, marks of rows what they mean, and comparisons what is compared."""
    document = (await client.get(f"{API}/openapi.json")).json()
    answer = document["components"]["schemas"]["AnalyticsAnswer"]["properties"]
    row = answer["rows"]["items"]["properties"]
    assert [name for name in Measure if not row[name]["description"].startswith(name.meaning)] == []
    assert all(kind in row["kind"]["description"] for kind in RowKind)
    assert row["partial"]["type"] == "boolean"
    asked = document["paths"]["/analytics/query"]["post"]["requestBody"]["content"]["application/json"][
        "schema"
    ]
    said = {name: field["description"] for name, field in asked["properties"].items()}
    assert "Different customers who bought." in said["measures"]
    assert "52 weeks before" in said["compare"]
    assert "calendar months before" in said["compare"]
    assert "how many others" in said["currency"]


class Resources(HTMLParser):
    """Collects what a page loads from elsewhere, and its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.headings: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note scripts and addresses."""
        self.found += ["script"] if tag == "script" else []
        self.found += [value for name, value in attrs if name == "src" and value]
        self.headings += [value for name, value in attrs if tag == "section" and name == "id" and value]


async def test_the_page(client: httpx.AsyncClient) -> None:
    """The page shows every operation with all parts of its body, loads nothing and runs nothing."""
    answer = await client.get(f"{API}/docs")
    page = Resources()
    page.feed(answer.text)
    document = (await client.get(f"{API}/openapi.json")).json()
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert page.found == []
    for name in ("Conversion", "RefundList", "ArchiveOperation", "NewLink", "LinkRule", "FunnelStep"):
        assert f"<h4>{name}</h4>" in answer.text
    assert set(page.headings) == {
        operation["operationId"] for methods in document["paths"].values() for operation in methods.values()
    }


def test_schemathesis(start_service: ServiceStarter, tmp_path: Path) -> None:
    """Whatever is sent as the document allows, or against it, gets an answer that the document has."""
    scopes = [f"--scope={permission}" for permission in Permission]
    (tmp_path / "schemathesis.toml").write_text(CONFIGURATION)
    with start_service(WAYLINK_RATE_LIMIT="1000000") as service:
        org_id = service.command("organization", "create", "Acme")["id"]
        key = service.command("key", "create", "--org", org_id, "--kind", "rest", *scopes)["key"]
        service.command("subscription", "set", "--org", org_id, "--until", "2999-12-31")
        run = subprocess.run(
            [
                Path(sys.executable).with_name("schemathesis"),
                "run",
                f"{service.base_url}{API}/openapi.json",
                f"--header=API-KEY: {key}",
                f"--checks={','.join(CHECKS)}",
                "--phases=examples,coverage",
                "--seed=20",
                "--generation-database=none",
                "--no-color",
                "--continue-on-failure",
            ],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert run.returncode == 0, run.stdout[-20_000:]
    assert f"{len(OPERATIONS)} selected / {len(OPERATIONS)} total" in run.stdout
