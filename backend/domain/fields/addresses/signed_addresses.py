"""Addresses that are signed as a whole: one more parameter, and their server refuses them."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

# Of S3 and its kin: `X-Amz-Signature`, `X-Goog-Signature`, `x-oss-signature`, `q-signature`.
_OF_S3 = re.compile(r"(?:x-[a-z-]*|q-)signature")
# Names of signatures, and of what stands beside them in signed addresses of these makers.
_BESIDE: dict[str, frozenset[str]] = {
    # CloudFront, S3 and Google before version 4, Alibaba, Huawei, Laravel
    "signature": frozenset(
        {
            "key-pair-id", "awsaccesskeyid", "googleaccessid", "ossaccesskeyid", "accesskeyid", "keyname",
            "policy", "expires",
        }
    ),
    "sig": frozenset({"se", "sv", "sp", "sr"}),  # Azure
    "token": frozenset({"expires", "expire"}),  # bunny.net, KeyCDN
    "hm": frozenset({"ex", "is"}),  # Discord
    "oh": frozenset({"oe"}),  # Facebook and Instagram
    "md5": frozenset({"expires"}),  # nginx
    "_hash": frozenset({"_expiration"}),  # Symfony
}  # fmt: skip
# Akamai and Cloudinary, Google Media CDN, OpenStack, Upyun
_ALONE = frozenset(
    {
        "hdnts",
        "hdnea",
        "hdntl",
        "__token__",
        "__gda__",
        "__cld_token__",
        "edge-cache-token",
        "temp_url_sig",
        "_upt",
    }
)
# Hashes that stand alone, of Laravel and Shopify, Tencent and JW Player, Symfony.
_LONG = ("signature", "hmac", "sign", "sig", "_hash")
_SHORTEST_SIGNATURE = 32  # characters
# Of imgix and Reddit: a hash in `s` behind all others, which is a search or a session elsewhere.
_LAST_HASH = re.compile(r"(?:^|&)s=(?:[0-9a-f]{32}|[0-9a-f]{40})&?$")
_OF_AKAMAI = re.compile(r"exp=[0-9]+~")  # in a parameter of any name, and hmac= behind it


def is_signed(url: str) -> bool:
    """Whether the query of this address has a signature over all of it."""
    if "?" not in url:
        return False  # nearly always, and quick to find out
    query = url.partition("#")[0].partition("?")[2]
    values = {name.lower(): value for name, value in parse_qsl(query)}
    return (
        any(map(_OF_S3.fullmatch, values))
        or not _ALONE.isdisjoint(values)
        or any(name in values and not beside.isdisjoint(values) for name, beside in _BESIDE.items())
        or any(len(values.get(name, "")) >= _SHORTEST_SIGNATURE for name in _LONG)
        or _LAST_HASH.search(query) is not None
        # Qiniu's token names a key, and when it ends; elsewhere `e` may be an e-mail address.
        or (":" in values.get("token", "") and values.get("e", "").isdecimal())
        or any(map(_is_akamais, values.values()))
    )


def _is_akamais(value: str) -> bool:
    found = _OF_AKAMAI.search(value)
    return found is not None and "hmac=" in value[found.end() :]
