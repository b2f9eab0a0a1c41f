"""Which domains an organization may add, and what proves that they are its own."""

from __future__ import annotations

import pytest

from backend.domain.domains.claims import ClaimedName, DomainClaim
from backend.domain.domains.dns import DnsRecord
from backend.domain.errors import InvalidField
from backend.domain.ids import OrgId

CLAIM = DomainClaim(OrgId("o"), "go.shop.com", "ab12")


def test_the_record_that_proves_it() -> None:
    """Only the claim's own value does, with spaces around it, and among others."""
    assert CLAIM.record == DnsRecord("TXT", "_waylink.go.shop.com", "waylink=ab12")
    assert CLAIM.is_proved_by(["v=spf1", " waylink=ab12 "])
    assert not CLAIM.is_proved_by([])
    assert not CLAIM.is_proved_by(["waylink=ab1", "waylink=ab123", "ab12", "waylink=AB12"])


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("localhost", "must be a name in the DNS"),
        ("go.shop.localhost", "must be a name in the DNS"),
        ("192.0.2.1", "must be a name in the DNS"),
        ("https://go.shop.com/", "must be a host name"),
        ("*.shop.com", "must be a host name"),
        (f"{'a' * 60}." * 4 + "com", "must be a host name of at most 244 characters"),
        (7, "must be a string"),
    ],
)
def test_names_that_nobody_can_prove(text: object, rule: str) -> None:
    """Such a name is refused at once, with the rule that it breaks."""
    with pytest.raises(InvalidField) as refused:
        ClaimedName().parse("name", text)
    assert refused.value.rule.startswith(rule), refused.value.rule


def test_one_form_of_a_name() -> None:
    """Upper case, a final dot and umlauts make no other domain."""
    assert ClaimedName().parse("name", " Go.Bücher.Example. ") == "go.xn--bcher-kva.example"
