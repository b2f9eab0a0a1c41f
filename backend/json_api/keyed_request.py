"""What the APIs with keys find out about a request."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend.domain.accounts.api_keys import ApiKey
from backend.domain.accounts.reach.link_reach import LinkReach
from backend.web.current import of_request


@dataclass(slots=True)
class KeyedRequest:
    """The key of a request, once it was admitted, and the headers of the rate limit for its answer.

    `reach` are the links that the key reaches now, if it is limited to some.
    """

    api_key: ApiKey | None = None
    reach: LinkReach | None = None
    rate_limit_headers: dict[str, str] = field(default_factory=dict)


def keyed_request() -> KeyedRequest:
    """What is known of the key of the current request."""
    return of_request(KeyedRequest)
