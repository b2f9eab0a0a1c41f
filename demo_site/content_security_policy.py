"""The shop's Content-Security-Policy: no inline code, no other sites, and requests to one service only."""

from __future__ import annotations

from urllib.parse import urlsplit


def content_security_policy(api_base_url: str) -> str:
    """The header's value for a shop that uses the Waylink service at this base URL.

    For Waylink, a site has to allow the SDK's file in `script-src` and the service in `connect-src`. The SDK
    needs neither `unsafe-inline` nor `unsafe-eval`, and works where Trusted Types are required.
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
