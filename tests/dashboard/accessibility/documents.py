"""Pages that are alike but for their `<main>`, in one document: a browser loads it once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import httpx

from backend.dashboard.frame.form import FORM_TOKEN
from backend.dashboard.frame.once import ONCE

# The fields that are others for each session, and on each page.
FORM_FIELDS = re.compile(f'name="(?:{FORM_TOKEN}|{ONCE})" value="[^"]*"')
MAIN = re.compile(r"<main\b.*</main>", re.DOTALL)
FRAME = re.compile(r'<html lang="en">.*<title>[^<]+</title>.*<body\b', re.DOTALL)
# What decides how a page is shown and what its scripts do.
RESOURCES = re.compile(r"<(?:body|link rel=.stylesheet|script)\b[^>]*>")
# Its body has one column only, whose items are as wide as they say.
PLAIN = '<body class="plain">'
NAMES = re.compile(
    r'(?<=\s)(id|for|form|list|popovertarget|headers|aria-(?:labelledby|describedby|controls|owns)|href(?=="#))'
    r'="(#?)([^"]+)"'
)


@dataclass(frozen=True, slots=True)
class Document:
    """What the service answers at an address, with its Content-Security-Policy."""

    address: str
    markup: str
    policy: str

    @property
    def kind(self) -> tuple[str, ...]:
        """The same of all documents that can be put into one."""
        return (self.policy, *RESOURCES.findall(MAIN.sub("", self.markup)))

    @property
    def content(self) -> str:
        """Its `<main>`."""
        content: str = MAIN.findall(self.markup)[0]
        return content

    def main(self, number: int) -> str:
        """Its `<main>`, with names that no other has; the first keeps its own, for the frame."""
        main = self.content.replace("<main", f'<main data-address="{self.address}"', 1)
        return NAMES.sub(lambda name: _numbered(name, number), main) if number else main


def _numbered(name: re.Match[str], number: int) -> str:
    attribute, hash_sign, values = name.groups()
    return f'{attribute}="{hash_sign}{" ".join(f"{value}-{number}" for value in values.split())}"'


def document_of(answer: httpx.Response) -> Document:
    """The page that the service answered, which has a language, a title, and one `<main>`."""
    assert FRAME.search(answer.text), answer.text
    assert answer.text.count("<main") == 1, answer.text
    markup = FORM_FIELDS.sub("", answer.text)
    return Document(str(answer.url), markup, answer.headers["content-security-policy"])


def merged(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents, those of a kind in one."""
    kinds: dict[tuple[str, ...], list[Document]] = {}
    for document in documents:
        kinds.setdefault(document.kind, []).append(document)
    return (_merge(of_kind) for of_kind in kinds.values())


def _merge(documents: Sequence[Document]) -> Document:
    first = documents[0]
    if len(documents) == 1:
        return first
    mains = "\n".join(document.main(number) for number, document in enumerate(documents))
    mains = mains if PLAIN in first.markup else f"<div>{mains}</div>"
    return Document(first.address, MAIN.sub(lambda _: mains, first.markup), first.policy)
