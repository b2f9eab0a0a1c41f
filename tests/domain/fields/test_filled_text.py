"""Texts with words in braces."""

import pytest

from backend.domain.fields.filled_text import fill
from backend.domain.mail.language import Language
from backend.json_api.error_table import ErrorRow
from backend.mail.texts import text_in

TYPED = "https://shop.example/{field}/{rule}/{organization}"


@pytest.mark.parametrize("values", [{"rule": TYPED, "field": "x"}, {"field": "x", "rule": TYPED}])
def test_what_somebody_typed_is_not_filled(values: dict[str, str]) -> None:
    """A value with a word in braces stays as it is, in whichever order the values come."""
    assert fill("{field}: {rule}, {other}", values) == f"x: {TYPED}, {{other}}"
    row = ErrorRow(400, 1, "m", "{rule} of {field}", "{field}")
    assert row.body(**values)["error"] == {"errorMessage": f"{TYPED} of x", "fieldName": "x"}
    text = text_in(Language.EN, "invitation", "text", by="{organization}", organization="Acme")
    assert text.startswith("{organization} invites you to the organization Acme")
