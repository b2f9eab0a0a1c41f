"""The fields by which the settings of a link domain are changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from backend.domain.domains.settings import OwnText, PageLanguage, PageText
from backend.domain.errors import FieldError, InvalidField, MissingField, raise_all, unknown_fields
from backend.domain.fields.rules import Flag, Rule, Schema, Text, WebAddress, parse_fields, parse_string
from backend.domain.links.destinations.web_address import encoded_address

_COLOR = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_LONGEST_ADDRESS = 2048
LONGEST_TITLE, LONGEST_TEXT, LONGEST_ROBOTS = 100, 400, 4000
_HTTPS = re.compile("https://", re.IGNORECASE)
# The fields whose addresses lead visitors, so that they are checked as destinations of links are.
LEADING_FIELDS = ("root_url", "not_found_url")


class Color:
    """A colour in hexadecimal digits, such as #1f5fbf or #15b."""

    def parse(self, field: str, value: object) -> str:
        """The colour as `#rrggbb`. Raises InvalidField."""
        text = parse_string(field, value).strip()
        if not _COLOR.fullmatch(text):
            raise InvalidField(field, "must be a colour in hexadecimal digits, such as #1f5fbf")
        digits = text[1:].lower()
        return "#" + (digits if len(digits) == 6 else "".join(digit * 2 for digit in digits))

    def schema(self) -> Schema:
        """JSON Schema of the colour."""
        return {"type": "string", "pattern": "^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"}


class ImageAddress:
    """The https address of an image that pages show: without a fragment, and in ASCII as browsers ask it."""

    _RULE = WebAddress(_LONGEST_ADDRESS)

    def parse(self, field: str, value: object) -> str:
        """The address in ASCII. Raises InvalidField."""
        url = self._RULE.parse(field, value)
        if not _HTTPS.match(url):
            raise InvalidField(field, "must be an https URL")
        if "#" in url:
            raise InvalidField(field, "must not have a fragment (#...)")
        return encoded_address(url)

    def schema(self) -> Schema:
        """JSON Schema of the address."""
        return self._RULE.schema() | {"pattern": "^[Hh][Tt][Tt][Pp][Ss]://[^\\s#]+$"}


BRAND_FIELDS: Mapping[str, Rule[Any]] = {
    "name": Text(80, shown=True),
    "logo_url": ImageAddress(),
    "favicon_url": ImageAddress(),
    "color": Color(),
    "background": Color(),
}
_TEXT_FIELDS: Mapping[str, Rule[str]] = {
    "title": Text(LONGEST_TITLE, shown=True),
    "text": Text(LONGEST_TEXT, shown=True),
}


class BrandFields:
    """Some fields of a brand. Null, or an empty text, clears one."""

    def parse(self, field: str, value: object) -> dict[str, str | None]:
        """The fields that change; None for one that is cleared. Raises InvalidField."""
        body = _object(field, value)
        errors: list[FieldError] = [*unknown_fields(body, BRAND_FIELDS, f"{field}.")]
        cleared = {name: None for name in BRAND_FIELDS if name in body and body[name] in (None, "")}
        others = {name: given for name, given in body.items() if name not in cleared}
        fields = parse_fields(BRAND_FIELDS, others, errors, f"{field}.")
        raise_all(errors)
        return cleared | fields

    def schema(self) -> Schema:
        """JSON Schema of the brand."""
        empty: list[Schema] = [{"type": "null"}, {"type": "string", "maxLength": 0}]
        properties = {name: {"anyOf": [rule.schema(), *empty]} for name, rule in BRAND_FIELDS.items()}
        return {"type": "object", "additionalProperties": False, "properties": properties}


class PageTexts:
    """Own texts of pages: for each language, for some pages, a title and a text."""

    def parse(self, field: str, value: object) -> dict[PageLanguage, dict[OwnText, PageText]]:
        """The texts. Raises InvalidField."""
        errors: list[FieldError] = []
        texts: dict[PageLanguage, dict[OwnText, PageText]] = {}
        for language, pages in _known(field, value, PageLanguage, errors).items():
            place = f"{field}.{language.value}"
            try:
                of_language = _known(place, pages, OwnText, errors)
                parsed = {
                    page: _page_text(f"{place}.{page.value}", of_language[page]) for page in of_language
                }
            except FieldError as error:
                errors.append(error)
            else:
                texts |= {language: parsed} if parsed else {}
        raise_all(errors)
        return texts

    def schema(self) -> Schema:
        """JSON Schema of the texts."""
        text: Schema = {
            "type": "object",
            "additionalProperties": False,
            "required": [*_TEXT_FIELDS],
            "properties": {name: rule.schema() for name, rule in _TEXT_FIELDS.items()},
        }
        pages: Schema = {
            "type": "object",
            "additionalProperties": False,
            "properties": {page.value: text for page in OwnText},
        }
        return {
            "type": "object",
            "additionalProperties": False,
            "properties": {language.value: pages for language in PageLanguage},
        }


class RobotsText(Text):
    """The lines of a robots.txt."""

    def __init__(self) -> None:
        super().__init__(LONGEST_ROBOTS, lines=True, shown=True)

    def parse(self, field: str, value: object) -> str:
        """The lines, each with one line end. Raises InvalidField."""
        text = super().parse(field, value)
        return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


DOMAIN_FIELDS: Mapping[str, Rule[Any]] = {
    "root_url": WebAddress(_LONGEST_ADDRESS),
    "not_found_url": WebAddress(_LONGEST_ADDRESS),
    "brand": BrandFields(),
    "texts": PageTexts(),
    "robots_txt": RobotsText(),
    "forwards_path": Flag(),
    "ignores_case": Flag(),
}
# Null, and for a text "", stand for such a field that is not set.
DOMAIN_CLEARABLE = frozenset(DOMAIN_FIELDS) - {"forwards_path", "ignores_case"}


def _page_text(field: str, value: object) -> PageText:
    body = _object(field, value)
    errors: list[FieldError] = [*unknown_fields(body, _TEXT_FIELDS, f"{field}.")]
    errors += [MissingField(f"{field}.{name}") for name in _TEXT_FIELDS if body.get(name) is None]
    given = {name: text for name, text in body.items() if text is not None}
    fields = parse_fields(_TEXT_FIELDS, given, errors, f"{field}.")
    raise_all(errors)
    return PageText(**fields)


def _known(field: str, value: object, words: Any, errors: list[FieldError]) -> dict[Any, Any]:
    """Those values of an object whose names are such words, by word; the other names are errors."""
    body = _object(field, value)
    errors += unknown_fields(body, [word.value for word in words], f"{field}.")
    return {word: body[word.value] for word in words if word.value in body}


def _object(field: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InvalidField(field, "must be an object")
    return value
