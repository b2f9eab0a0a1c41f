"""README.md, docs/*.md and sdk_dist/README.md: every block works as it stands, in the order of its page.

Those of html and js are run by tests/browser/sites/test_docs_examples.py.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from backend.domain.links.input import LINK_RULES
from tests.conftest import ServiceStarter
from tests.document_blocks import KINDS, NOT_RUN, PAGES, ROOT, SHELL, Block, blocks, blocks_to_run, filled
from tests.imports.services import BITLY
from tests.imports.services import DOMAIN as BITLY_DOMAIN
from tests.processes.programs import find_program
from tests.processes.service_process import ServiceProcess
from tests.processes.waylink_for_shells import waylink_for_shells

SHELLS = blocks_to_run(SHELL)
# Domains of links on the pages; those that a page adds itself are left to it.
DOMAINS = {"go.demo.localhost", "go.shop.com", "go.shop.example"}
SAMPLES = ROOT / "docs" / "samples"
# Mails may be asked for, and wait: nothing answers there.
MAIL_SERVER = {
    "WAYLINK_SMTP_HOST": "localhost",
    "WAYLINK_SMTP_PORT": "1",
    "WAYLINK_SMTP_SENDER": "links@shop.example",
}
# Files that blocks import, as their readers have them.
FILES = {
    "links.csv": (SAMPLES / "links.csv").read_text(),
    "export.csv": (SAMPLES / "other-service.csv").read_text(),
    "go.shop.com.csv": (SAMPLES / "firebase-dynamic-links.csv").read_text(),
    "shop.page.link.csv": (SAMPLES / "firebase-dynamic-links.csv")
    .read_text()
    .replace("/spring", "/spring-2"),
    "links.json": BITLY.replace(BITLY_DOMAIN, "go.shop.com"),
}
# A line of a shell's output behind which nothing of a block comes any more.
_END = "@ the end of a block:"


def test_no_block_is_left_out() -> None:
    """Each is of a kind that is run, or is plain text; and each reason not to run one is about one."""
    assert {block.kind for block in blocks()} - KINDS <= {"", "text"}
    reasons = sorted(block.why_not_run for block in blocks() if block.why_not_run)
    assert reasons == sorted(NOT_RUN.values())


@pytest.mark.parametrize("document", PAGES, ids=lambda document: document.name)
def test_no_command_hides_in_an_indented_block(document: Path) -> None:
    """What stands in no fence would not be run: such text only says what a command may look like."""
    text = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    commands = re.findall(r"^ {4}(?:\$ )?((?:curl|waylink|npm|make) .*)", text, re.MULTILINE)
    assert [line for line in commands if not re.search(r"[|\[(]", line)] == []


class Shell:
    """A bash that a page's blocks are typed into; it ends at the first command that fails."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, commands: str) -> str:
        """What these commands print. Fails with it where one of them fails."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{commands}\necho; echo '{_END}'\n")
        self._process.stdin.flush()
        printed: list[str] = []
        for line in self._process.stdout:
            if line.startswith(_END):
                return "".join(printed)
            printed.append(line)
        pytest.fail(f"{commands}\n{''.join(printed)}")


@contextmanager
def shell(folder: Path, service: ServiceProcess) -> Iterator[Shell]:
    """A bash in this folder, with `waylink` of the service, also as `.venv/bin/waylink`, and a curl that
    fails where it is refused."""
    programs = folder / ".venv" / "bin"
    with waylink_for_shells(programs, service.environment):
        curl = programs / "curl"
        curl.write_text(f'#!/bin/sh\nexec {find_program("curl", "curl")} -sS --fail-with-body "$@"\n')
        curl.chmod(0o755)
        environment = service.environment | {"PATH": f"{programs}:{service.environment['PATH']}"}
        with subprocess.Popen(
            ["bash"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            env=environment,
        ) as process:
            assert process.stdin is not None
            process.stdin.write("set -eo pipefail\n")
            yield Shell(process)
            process.stdin.close()


@pytest.fixture(scope="module")
def running(start_service: ServiceStarter) -> Iterator[ServiceProcess]:
    """The service that the readers of all pages have."""
    with start_service(**MAIL_SERVER) as service:
        yield service


def own_names(text: str, page: str) -> str:
    """The text with domains and addresses that only the reader of this page has, as nobody else may."""
    number = list(SHELLS).index(page)
    return re.sub(r"\b(shop|kites|demo)\.(com|example|localhost)\b", rf"\1-{number}.\2", text)


def what_the_reader_has(service: ServiceProcess, page: str) -> dict[str, str]:
    """The ids and keys of two organizations and a link, with the domains that the page doesn't add itself:
    those of them that the page has."""
    text = "".join(block.text for block in SHELLS[page])
    org = service.command("organization", "create", "Acme")["id"]
    added = set(re.findall(r"domain add (\S+)", text))
    given = sorted(DOMAINS - added)
    named = [domain for domain in given if domain in text] or given[:1]
    domains = [own_names(domain, page) for domain in named]
    for domain in domains:
        service.command("domain", "add", domain, "--org", org)
    domain = domains[0]
    made = service.command(
        "links",
        "create",
        "--org",
        org,
        "--domain",
        domain,
        "--destination",
        "http://127.0.0.1:1/",
        "--name",
        "a",
    )
    if "links reports" in text:
        form = {"link": made["short_url"], "reason": "other", "text": "It leads elsewhere."}
        httpx.post(f"{service.base_url}/report", data=form, headers={"Host": domain}).raise_for_status()
    kinds = {"c_api_": "rest", "c_web_": "web", "c_mob_": "mobile"}
    keys = {
        start: service.command("key", "create", "--org", org, "--kind", kind)["key"]
        for start, kind in kinds.items()
        if f"{start}…" in text
    }
    others = {"OTHER": service.command("organization", "create", "Other")["id"]} if "OTHER=…" in text else {}
    return keys | others | {"ORG": org, "LINK_ID": made["id"]}


def learned(block: Block, printed: str) -> dict[str, str]:
    """The ids and keys that a block printed, which others after it have `…` for."""
    keys_and_ids = {key[:6]: key for key in re.findall(r"\bc_(?:api|web|mob)_[\w-]+", printed)}
    if "organization create" in block.text and (org := re.search(r"^id +(\S+)$", printed, re.MULTILINE)):
        keys_and_ids["ORG"] = org[1]
    return keys_and_ids


def assert_shown(block: Block, printed: str) -> None:
    """What the page shows as printed is of the same form: JSON with the same names."""
    answers = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    expected = [json.loads(line) for line in block.shown]
    assert [list(answer) for answer in answers[: len(expected)]] == [list(shown) for shown in expected], (
        block.where
    )


@pytest.mark.parametrize("document", SHELLS)
def test_every_command_works(
    document: str, running: ServiceProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Typed one after the other into a shell, each block of the page succeeds; only the service's address,
    domains and addresses, and keys and ids that the page leaves open with `…`, are the reader's own."""
    monkeypatch.chdir(tmp_path)  # where commands look for files
    values = what_the_reader_has(running, document)
    with shell(tmp_path, running) as bash:
        for block in SHELLS[document]:
            for name in re.findall(r"\b[\w.]+\.(?:csv|json)\b", block.text):
                if f"{name} --org" in block.text and name in FILES:
                    Path(own_names(name, document)).write_text(own_names(FILES[name], document))
            printed = bash.run(own_names(filled(block.commands, running.base_url, values), document))
            values |= learned(block, printed)
            assert_shown(block, printed)
    if document == "docs/rest-api.md":
        assert Path("clicks.csv").read_text().startswith("time,link_id,")
        assert Path("campaigns.csv").read_text().startswith("campaign,kind,clicks,conversions")


@pytest.mark.parametrize(
    "block", [block for block in blocks() if block.kind == "json"], ids=lambda block: block.where
)
def test_every_piece_of_json_is_json(block: Block) -> None:
    """It can be read as it stands; a rule of links is one that the service takes."""
    value = json.loads(block.text)
    if "if" in value:
        assert LINK_RULES.parse("rules", [value])[0]["then"] == value["then"]
