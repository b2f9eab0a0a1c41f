"""Destinations that are signed as a whole stay as they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backend.domain.fields.addresses.signed_addresses import is_signed
from backend.domain.links.destinations.compiled_rules import CompiledRules
from backend.domain.links.destinations.web_address import web_address
from backend.domain.links.input import apply_changes, parse_new_link
from backend.domain.links.json_form import is_left_signed
from backend.domain.links.links import CreatedBy, QueryPrecedence
from backend.domain.links.rules.conditions import Circumstances
from backend.system.clock import utc_now
from tests.domain.links.destinations.test_forwarding import PLAIN
from tests.redirector.test_orphans import BROWSER

S3 = (
    "https://b.s3.amazonaws.com/f.pdf?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA%2F20260101%2Fs3"
    "&X-Amz-Date=20260101T000000Z&X-Amz-Expires=604800&X-Amz-SignedHeaders=host&X-Amz-Signature=abcd"
)
SIGNED = [
    S3,
    "https://storage.googleapis.com/b/f?X-Goog-Algorithm=GOOG4&x-goog-signature=ab",
    "https://d1.cloudfront.net/f?Expires=1&Signature=ab~c_&Key-Pair-Id=APK",
    "https://b.s3.amazonaws.com/f?AWSAccessKeyId=A&Expires=1&Signature=ab%3D",
    "https://a.blob.core.windows.net/c/f?sv=2024-05-04&se=2030-01-01&sr=b&sp=r&sig=ab%2Bc",
    "https://b.oss-cn.aliyuncs.com/f?OSSAccessKeyId=A&Expires=1&Signature=ab",
    "https://b.cos.ap.myqcloud.com/f?q-sign-algorithm=sha1&q-signature=ab",
    "https://shop.com/unsubscribe/7?expires=1&signature=ab",
    f"https://shop.com/verify/7?signature={'a1' * 32}#top",
    "https://x.b-cdn.net/f?token=ab&expires=1",
    "https://cdn.shop.com/f?hdnts=exp=1~acl=/*~hmac=ab",
    "https://ucarecdn.com/f/?token=exp=1~acl=/f/~hmac=ab",
    "https://res.cloudinary.com/f.jpg?__cld_token__=exp=1~hmac=ab",
    "https://cdn.shop.com/f?edge-cache-token=Expires=1~Signature=ab",
    "https://cdn.shop.com/f?Expires=1&KeyName=k&Signature=ab",
    f"https://x.imgix.net/f.jpg?w=400&s={'0f' * 16}",
    f"https://x.imgix.net/f.jpg?s={'0f' * 16}",
    f"https://preview.redd.it/f.png?width=640&auto=webp&s={'0f' * 20}",
    f"https://cdn.discordapp.com/attachments/1/2/f.png?ex=65d9&is=65c6&hm={'0f' * 32}&",
    "https://scontent.fbcdn.net/v/f.jpg?_nc_cat=1&oh=00_AfB&oe=65C0FFEE",
    "https://b.oss-cn.aliyuncs.com/f?x-oss-signature-version=OSS4&x-oss-signature=ab",
    "https://b.obs.myhuaweicloud.com/f?AccessKeyId=A&Expires=1&Signature=ab",
    "https://cdn.qiniu.com/f?e=1451491200&token=A:ab=",
    f"https://api.cloudinary.com/v1_1/x/image/download?public_id=f&signature={'0f' * 20}",
    f"https://cdn.tencent.com/f?sign={'0f' * 16}&t=1589999999",
    "https://shop.com/login?_hash=ab%2Bc&_expiration=1",
    f"https://swift.shop.com/v1/f?temp_url_sig={'0f' * 20}&temp_url_expires=1",
    f"https://x.myshopify.com/apps/f?shop=x&timestamp=1&hmac={'0f' * 32}",
]
PLAIN_ADDRESSES = [
    "https://shop.com/",
    "https://shop.com/?signature=classic",
    "https://shop.com/?sig=7",
    "https://shop.com/?token=ab",
    "https://shop.com/?expires=1",
    "https://shop.com/x-amz-signature?a=b",
    "https://shop.com/?a=b#X-Amz-Signature=ab",
    "https://shop.com/?design=signature-collection",
    "https://shop.com/?my-signature=Anna",
    "https://shop.com/?s=red+kites+that+fly+higher+than+others",
    "https://shop.com/?sign=leo&t=1",
    "https://shop.com/?hm=1&oh=2&e=3",
    "https://shop.com/?expires=never&s=a&md5sum=b",
    "https://shop.com/?exp=1&note=hmac%3D",
    "https://shop.com/confirm?token=ab&e=ada@shop.com",
    "https://shop.com/confirm?token=ab:c&e=ada",
    f"https://forum.shop.com/showthread.php?s={'0f' * 16}&t=1",
    f"https://shop.com/?files={'0f' * 16}",
]


@pytest.mark.parametrize("url", SIGNED)
def test_a_signed_address_is_left_as_it_is(url: str) -> None:
    """Byte for byte, whatever the visitor adds and the link has; also where a rule leads."""
    assert is_signed(url)
    fields = {"domain": "go.test", "destination_url": url, "link_name": "F", "utm_source": "mail"}
    link = parse_new_link(fields).to_link(
        "f", link_id=PLAIN.id, org_id=PLAIN.org_id, created_by=CreatedBy.REST, now=utc_now()
    )
    assert is_left_signed(link)
    assert web_address(link, "ref=1&utm_source=x", "a") == url
    ruled = replace(PLAIN, rules=[{"if": {}, "then": {"destination_url": url}}])
    target = CompiledRules(ruled).target(Circumstances(BROWSER, utc_now()))
    assert target
    assert web_address(target.link, "ref=1") == url


@pytest.mark.parametrize("url", PLAIN_ADDRESSES)
def test_other_addresses_get_the_link_s_id(url: str) -> None:
    """A name alone is no signature."""
    assert not is_signed(url)


def test_a_change_of_the_destination() -> None:
    """It follows the signature, unless the change says otherwise."""
    signed = apply_changes(PLAIN, {"destination_url": S3}, utc_now())
    assert is_left_signed(signed)
    assert apply_changes(signed, {"destination_url": "https://shop.com/"}, utc_now()).adds_link_id
    asked = apply_changes(PLAIN, {"destination_url": S3, "adds_link_id": True}, utc_now())
    assert asked.adds_link_id
    untouched = replace(PLAIN, adds_link_id=False)
    assert not apply_changes(untouched, {"destination_url": "https://shop.com/x"}, utc_now()).adds_link_id


@pytest.mark.parametrize(
    ("precedence", "expected"),
    [
        (None, "ref=own&a[]=1&keep&ref=his&a%5B%5D=2&new=3"),
        (QueryPrecedence.DESTINATION, "ref=own&a[]=1&keep&new=3"),
        (QueryPrecedence.VISITOR, "keep&ref=his&a%5B%5D=2&new=3"),
    ],
)
def test_whose_parameter_arrives(precedence: QueryPrecedence | None, expected: str) -> None:
    """Of a name that both have: both, the destination's, or the visitor's, in any spelling of the name."""
    link = replace(PLAIN, destination_url="https://b.net/?ref=own&a[]=1&keep", query_precedence=precedence)
    address = web_address(link, "ref=his&a%5B%5D=2&new=3")
    assert address == f"https://b.net/?{expected}&cl_link_id={link.id}"


def test_utm_fields_keep_their_order() -> None:
    """The visitor's UTM values win over the destination's also where its parameters win otherwise."""
    link = replace(
        PLAIN,
        destination_url="https://b.net/?utm_source=own",
        query_precedence=QueryPrecedence.DESTINATION,
    )
    assert "utm_source=his" in web_address(link, "utm_source=his")
    assert "utm_source=own" not in web_address(link, "utm_source=his")
