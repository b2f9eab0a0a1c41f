"""Addresses that are signed as a whole: one more parameter, and their server refuses them."""

from __future__ import annotations

from urllib.parse import parse_qsl

# Of S3 and its kin (`X-Amz-Signature`, `X-Goog-Signature`, `q-signature`).
_SIGNATURE_ENDS = ("-signature",)
# Names of signatures, and of what stands beside them in signed addresses of these makers.
_BESIDE: dict[str, frozenset[str]] = {
    # CloudFront, S3 and Google before version 4, Alibaba, Laravel
    "signature": frozenset(
        {"key-pair-id", "awsaccesskeyid", "googleaccessid", "ossaccesskeyid", "policy", "expires"}
    ),
    "sig": frozenset({"se", "sv", "sp", "sr"}),  # Azure
    "token": frozenset({"expires"}),  # bunny.net
}
_ALONE = frozenset({"hdnts", "hdnea", "hdntl", "__token__"})  # Akamai
_SHORTEST_SIGNATURE = 32  # characters of one that stands alone, such as Laravel's


def is_signed(url: str) -> bool:
    """Whether the query of this address has a signature over all of it."""
    if "?" not in url:
        return False  # nearly always, and quick to find out
    query = url.partition("#")[0].partition("?")[2]
    values = {name.lower(): value for name, value in parse_qsl(query)}
    return (
        any(name.endswith(_SIGNATURE_ENDS) for name in values)
        or not _ALONE.isdisjoint(values)
        or any(name in values and not beside.isdisjoint(values) for name, beside in _BESIDE.items())
        or len(values.get("signature", "")) >= _SHORTEST_SIGNATURE
    )
