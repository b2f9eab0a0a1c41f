"""The blocks of code in README.md, docs/*.md and sdk_dist/README.md, for tests that run each as it stands.

`PLACEHOLDERS` are all that a block may have in the place of what only its reader knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "sdk_dist" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHELL = frozenset({"console", "sh"})
IN_A_BROWSER = frozenset({"html", "js"})
KINDS = SHELL | IN_A_BROWSER | {"json", "sql"}

# By page and beginning: blocks that no test can run, each with its reason.
NOT_RUN = {
    ("README.md", "$ make run "): "make test would run itself; tests/demo runs what make run starts",
    ("README.md", "$ docker compose "): "Docker is not at hand in tests",
    ("README.md", "$ python3 -m venv waylink-venv"): "tests/packaging runs the service from the package",
    ("docs/doctor.md", "$ waylink doctor"): "it shows what is said of an installation with faults",
    ("docs/first-party-proxy.md", "$ waylink doctor proxy "): "it needs a proxy: tests/proxy has some",
    ("docs/follow.md", "$ waylink follow --org $ORG --into postgres "): "tests/follow has a PostgreSQL",
    ("docs/follow.md", "$ export CLICKHOUSE_PASSWORD"): "tests/follow has ClickHouse's engine",
    ("docs/follow.md", "# install "): "it sets a machine up, as root",
    ("docs/moving-in.md", "$ WAYLINK_MONGODB_URI=mongodb://new-host/"): "it needs another host's MongoDB",
    ("docs/operations.md", "$ docker compose "): "it needs Docker; tests/deployment reads the files",
    ("docs/operations.md", "$ docker network "): "it needs Docker",
    ("docs/operations.md", "# useradd "): "it sets a machine up, as root",
    ("docs/operations.md", "$ mongodump "): "it needs MongoDB's tools, and a second server",
    ("docs/rest-api.md", "$ curl -s -X POST $WAYLINK/serviceCore/pa/v1/links/$LINK_ID/preview"):
        "it reads a page of the public internet",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Block:
    """A block: its page, the line on which it begins, its kind as the page says it, and its text."""

    page: str
    line: int
    kind: str
    text: str

    @property
    def where(self) -> str:
        """Page and line."""
        return f"{self.page}:{self.line}"

    @property
    def why_not_run(self) -> str | None:
        """Why no test can run it; None for nearly all."""
        found = (why for (page, start), why in NOT_RUN.items() if page == self.page and self._begins(start))
        return next(found, None)

    @property
    def commands(self) -> str:
        """The lines that a reader types: of a console those behind `$`, with what continues them."""
        return "".join(line for line, is_typed in self._lines() if is_typed)

    @property
    def shown(self) -> list[str]:
        """The lines of a console that show what the commands print."""
        return [line.strip() for line, is_typed in self._lines() if not is_typed]

    def _lines(self) -> Iterator[tuple[str, bool]]:
        """Each line, and whether it is typed: it follows a prompt, or goes on with what does."""
        if self.kind != "console":
            yield self.text, True
            return
        command = ""
        for line in self.text.splitlines(keepends=True):
            if line.startswith("$ "):
                command = ""
            elif not (command.endswith("\\\n") or command.count("'") % 2):
                yield line, False
                continue
            yield line.removeprefix("$ "), True
            command += re.sub(r" # .*", "", line)

    def _begins(self, start: str) -> bool:
        return self.text.startswith(start)


def blocks() -> list[Block]:
    """All blocks of these kinds, page by page and in their order."""
    found = []
    for page in PAGES:
        text, name = page.read_text(encoding="utf-8"), str(page.relative_to(ROOT))
        for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, match.start()) + 2
            found.append(Block(name, line, match[1], match[2]))
    return found


def blocks_to_run(kinds: frozenset[str]) -> dict[str, list[Block]]:
    """The blocks of these kinds that are run, by page."""
    found: dict[str, list[Block]] = {}
    for block in blocks():
        if block.kind in kinds and not block.why_not_run:
            found.setdefault(block.page, []).append(block)
    return found


PLACEHOLDERS = re.compile(
    # Where the reader's service is, or a proxy before it.
    r"(?P<service>https?://(?:links\.[a-z.]+|localhost:8080|shop\.example(?=/a/hello)))"
    r"|(?P<key>c_(?:api|web|mob)_)…"  # a key
    r"|\b(?P<name>[A-Z_]+)=…"  # what the page printed before, or says that the reader has
)


def filled(text: str, service: str, known: Mapping[str, str]) -> str:
    """The text with what stands for the reader's own: the service's address, and what is known by the
    beginnings of keys and the names of variables."""

    def own(match: re.Match[str]) -> str:
        if match["service"]:
            return service
        return known[match["key"]] if match["key"] else f"{match['name']}={known[match['name']]}"

    return PLACEHOLDERS.sub(own, text)
