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
    "token": frozenset({"expires", "expire", "e"}),  # bunny.net, KeyCDN, Qiniu
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
_MD5 = re.compile(r"[0-9a-f]{32}")  # in `s`, which is a search elsewhere: imgix
_OF_AKAMAI = re.compile(r"exp=[0-9]+~.*hmac=")  # in a parameter of any name


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
        or _MD5.fullmatch(values.get("s", "")) is not None
        or any(map(_OF_AKAMAI.search, values.values()))
    )
