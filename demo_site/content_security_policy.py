"""The shop's Content-Security-Policy: nothing inline, nothing from elsewhere, one service to talk to."""

from __future__ import annotations

from urllib.parse import urlsplit


def content_security_policy(api_base_url: str) -> str:
    """The header's value for a shop that reports to the service at this address.

    What a site has to allow for Waylink is `script-src` for the SDK's file and `connect-src` for the service.
    The SDK needs no `unsafe-inline` and no `unsafe-eval`, and works where Trusted Types are required.
    """
    service = urlsplit(api_base_url)
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            f"connect-src 'self' {service.scheme}://{service.netloc}",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        )
    )
