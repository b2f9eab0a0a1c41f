"""The links of the demo's history, as a kite shop's marketers would have made them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import chain, zip_longest

from demo_site.history.audience import Channel, Market
from demo_site.kites import KITES

MOST_LINKS = 300
MAIN, ADS, SOCIAL = "go.windrow.localhost", "ads.windrow.localhost", "hey.windrow.localhost"
DOMAINS = (MAIN, ADS, SOCIAL)
_WEEKS = 9
# Sources whose names are not simply written with a capital letter.
_NAMES = {"tiktok": "TikTok", "youtube": "YouTube", "linkedin": "LinkedIn"}
# The shop's tags, with the names of their colours.
TAGS = {
    "Newsletter": "blue",
    "Paid ads": "orange",
    "Creators": "pink",
    "Always on": "green",
    "Partners": "purple",
    "Print": "brown",
    "Customer care": "teal",
    "US market": "red",
    "Retargeting": "gray",
    "For children": "yellow",
}
_TAG_OF_MEDIUM = {
    "email": "Newsletter", "paid_social": "Paid ads", "cpc": "Paid ads", "influencer": "Creators",
    "social": "Always on", "affiliate": "Partners", "qr": "Print", "sms": "Customer care",
    "chat": "Customer care",
}  # fmt: skip
_ALWAYS = 10_000  # days: longer than any demo runs


@dataclass(frozen=True, slots=True)
class PlannedLink:
    """A link, and how it is used.

    `weight` is its share of clicks while it is new, beside the other links. `launched` and `ended` are days
    from the history's first one; a link launched before has a negative day. From `disabled` on it is
    disabled.
    """

    name: str
    domain: str
    path: str
    page: str
    utm: dict[str, str]
    channel: Channel
    market: Market
    weight: float
    launched: int
    ended: int = _ALWAYS
    disabled: int | None = None

    @property
    def tags(self) -> list[str]:
        """The names of the link's tags (see TAGS)."""
        named = [_TAG_OF_MEDIUM[self.utm["utm_medium"]]]
        if self.market is Market.AMERICA:
            named.append("US market")
        if self.utm["utm_campaign"].startswith("retargeting"):
            named.append("Retargeting")
        if self.page == "/kites/pip":
            named.append("For children")
        return named


def planned_links(begin: date, most: int = MOST_LINKS) -> list[PlannedLink]:
    """The first `most` links of the catalogue, in which channels alternate.

    `begin` is the history's first day: campaigns are called after the weeks and months that they are in.
    """
    paid = (_paid_social(begin), _search(), _creators(begin))
    kinds = (_newsletters(begin), *paid, _social(), _partners(), _print())
    taken = [link for link in chain.from_iterable(zip_longest(*kinds)) if link is not None]
    return taken[:most]


def _utm(source: str, medium: str, campaign: str, content: str = "", term: str = "") -> dict[str, str]:
    values = {"source": source, "medium": medium, "campaign": campaign, "term": term, "content": content}
    return {f"utm_{name}": value for name, value in values.items() if value}


def _name(source: str) -> str:
    return _NAMES.get(source, source.title())


def _newsletters(begin: date) -> Iterator[PlannedLink]:
    """One letter a week, sent on its first Tuesday, with eight links each."""
    first = (1 - begin.weekday()) % 7
    places = [("hero", "/", 9.0), ("first-kite", "/kites/pip", 3.0), ("offer", "/kites/rokk", 6.0),
              ("story", "/kites/kestrel", 2.0), ("new", "/kites/skate", 4.0), ("wind", "/", 1.0),
              ("ps", "/kites/drift", 2.0), ("footer", "/", 0.6)]  # fmt: skip
    for week in range(_WEEKS):
        sent = first + 7 * week
        year, number, _ = (begin + timedelta(days=sent)).isocalendar()
        for place, page, weight in places:
            campaign = f"newsletter_{year}w{number:02d}"
            yield PlannedLink(
                f"Newsletter week {number}: {place}", MAIN, f"nl{number:02d}-{place}", page,
                _utm("newsletter", "email", campaign, place), Channel.EMAIL, Market.HOME, 24 * weight, sent,
            )  # fmt: skip


def _paid_social(begin: date) -> Iterator[PlannedLink]:
    month = f"{begin + timedelta(days=20):%Y-%m}"
    campaigns = [
        (f"{month}_prospecting_dach", Market.HOME, 2.0, 4, 44),
        (f"{month}_lookalike_buyers_1pct", Market.HOME, 1.6, 18, _ALWAYS),
        (f"{month}_us_launch", Market.AMERICA, 2.6, 24, _ALWAYS),
        ("retargeting_cart_30d", Market.HOME, 0.9, -20, _ALWAYS),
    ]
    creatives = [("video_beach_15s", 2.0), ("video_first-flight_6s", 1.4), ("carousel_the-six", 1.2),
                 ("static_offer", 0.7), ("story_wind-today", 1.0), ("reel_unboxing", 1.6)]  # fmt: skip
    for source, channel, share in (
        ("facebook", Channel.FACEBOOK, 1.0), ("instagram", Channel.INSTAGRAM, 1.3),
        ("tiktok", Channel.TIKTOK, 0.9),
    ):  # fmt: skip
        for campaign, market, weight, launched, ended in campaigns:
            for creative, appeal in creatives:
                content = creative.replace("_", " ")
                yield PlannedLink(
                    f"{_name(source)} {campaign}: {content}", ADS,
                    f"{source[:2]}-{campaign}-{creative}".replace("_", "-").lower(), "/",
                    _utm(source, "paid_social", campaign, creative), channel, market,
                    2 * weight * appeal * share, launched, ended,
                )  # fmt: skip


def _search() -> Iterator[PlannedLink]:
    campaigns = [("search_brand", Market.HOME, 40.0, ["windrow", "windrow kites", "windrow shop"]),
                 ("search_generic_de", Market.HOME, 22.0,
                  ["drachen kaufen", "lenkdrachen", "kinderdrachen", "drachen wind"]),
                 ("search_generic_us", Market.AMERICA, 18.0,
                  ["delta kite", "buy kite", "stunt kite", "kids kite"])]  # fmt: skip
    for campaign, market, weight, terms in campaigns:
        for rank, term in enumerate(terms):
            yield PlannedLink(
                f"Google Ads {campaign}: {term}", ADS,
                f"g-{campaign}-{term}".replace("_", "-").replace(" ", "-"), "/",
                _utm("google", "cpc", campaign, term=term), Channel.SEARCH, market, weight / (1 + rank), -40,
            )  # fmt: skip
    for source in ("google", "bing"):
        for market in (Market.HOME, Market.AMERICA):
            for kite in KITES:
                campaign = f"shopping_{market.value}"
                yield PlannedLink(
                    f"{source.title()} Shopping {market.value}: {kite.name}", ADS,
                    f"{source[0]}-{campaign}-{kite.slug}".replace("_", "-"), f"/kites/{kite.slug}",
                    _utm(source, "cpc", campaign, kite.slug), Channel.SEARCH, market,
                    (6.0 if source == "google" else 1.5) * (90 - kite.price) / 40, -25,
                )  # fmt: skip


def _creators(begin: date) -> Iterator[PlannedLink]:
    names = ["windmaedchen", "papa_am_strand", "skyline.sam", "lena.outdoors", "kitefolk", "dunes_and_dogs",
             "twolittleravens", "campervan.cleo", "the_quiet_coast", "north.sea.nils"]  # fmt: skip
    for number, name in enumerate(names):
        for source, channel, share in (("instagram", Channel.INSTAGRAM, 1.0), ("youtube", Channel.VIDEO, 0.7),
                                       ("tiktok", Channel.TIKTOK, 0.8)):  # fmt: skip
            launched = 3 + 5 * number
            yield PlannedLink(
                f"{name} on {_name(source)}", SOCIAL, f"{name}-{source[:2]}".replace("_", "-"),
                f"/kites/{KITES[number % len(KITES)].slug}",
                _utm(source, "influencer", f"creators_{begin + timedelta(days=30):%Y-%m}", name),
                channel, Market.WORLD if number % 3 == 2 else Market.HOME,
                share * (44.0 / (1 + number % 5)), launched,
            )  # fmt: skip


def _social() -> Iterator[PlannedLink]:
    places = [("instagram", "bio", Channel.INSTAGRAM, 6.0), ("facebook", "page", Channel.FACEBOOK, 2.0),
              ("pinterest", "pins", Channel.WEB, 1.5), ("youtube", "channel", Channel.VIDEO, 1.2),
              ("linkedin", "company", Channel.WEB, 0.5),
              ("mastodon", "profile", Channel.WEB, 0.4)]  # fmt: skip
    for source, place, channel, weight in places:
        for page, share in (("/", 1.0), *((f"/kites/{kite.slug}", 0.35) for kite in KITES)):
            thing = page.rpartition("/")[2] or "home"
            yield PlannedLink(
                f"{_name(source)} {place}: {thing}", SOCIAL, f"{source[:2]}-{place}-{thing}", page,
                _utm(source, "social", "always_on", f"{place}_{thing}"), channel, Market.WORLD,
                4 * weight * share, -60,
            )  # fmt: skip


def _partners() -> Iterator[PlannedLink]:
    partners = [("strandgut-magazin.example", 3.0), ("kitereview.example", 4.0),
                ("familienzeit.example", 1.6), ("windfinder-blog.example", 2.2),
                ("geschenke-tipps.example", 1.2)]  # fmt: skip
    for source, weight in partners:
        for kite in KITES:
            # One partner took its page down: whoever reads "links that stopped" sees it.
            has_stopped = source.startswith("kitereview") and kite.slug == "kestrel"
            yield PlannedLink(
                f"{source.partition('.')[0]}: {kite.name}", MAIN, f"p-{source.partition('.')[0]}-{kite.slug}",
                f"/kites/{kite.slug}", _utm(source, "affiliate", "partners", kite.slug), Channel.PARTNER,
                Market.HOME, (14.0 if has_stopped else weight * 70 / (40 + kite.price)), -50,
                56 if has_stopped else _ALWAYS,
            )  # fmt: skip


def _print() -> Iterator[PlannedLink]:
    places = [("flyer", "beach_days", ["sylt", "norderney", "ruegen", "st-peter", "fehmarn", "usedom"], 1.6),
              ("packaging", "in_the_box", [kite.slug for kite in KITES], 0.8),
              ("poster", "city_autumn", ["hamburg", "berlin", "koeln", "wien", "zuerich", "leipzig"], 1.1),
              ("sms", "back_in_stock", [kite.slug for kite in KITES], 2.0),
              ("whatsapp", "care_chat", ["repair", "returns", "wind", "gift"], 0.9)]  # fmt: skip
    for source, campaign, contents, weight in places:
        medium = {"sms": "sms", "whatsapp": "chat"}.get(source, "qr")
        for number, content in enumerate(contents):
            yield PlannedLink(
                f"{source.title()} {content}", MAIN, f"{source[:2]}-{content}", "/",
                _utm(source, medium, campaign, content), Channel.SCAN if medium == "qr" else Channel.PHONE,
                Market.HOME, weight / (1 + number / 3), -30 + 6 * number,
                disabled=50 if (source, content) == ("poster", "koeln") else None,
            )  # fmt: skip
