"""Visits as a site with many links has them: hardly two are alike.

Links are drawn by Zipf's law, user agents from the browsers and in-app browsers of phones and desktops with
hundreds of devices and versions, and referrers and queries as campaigns bring them. Robots are left out: only
so many of their visits are recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from random import Random

from benchmarks.data.stored_links import path_of

_CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{chrome} "
_PHONE = "Mozilla/5.0 (Linux; Android {android}; {device}) "
_VIEW = (
    "Mozilla/5.0 (Linux; Android {android}; {device} Build/{build}; wv) AppleWebKit/537.36 "
    "(KHTML, like Gecko) Version/4.0 Chrome/{chrome} Mobile Safari/537.36 "
)
_SAMSUNG = (
    "AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/{safari} Chrome/{chrome} Mobile Safari/537.36"
)
_IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS {ios} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
_WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) "
_MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) "
# How often each comes, in percent, about as in public statistics of browsers.
_AGENTS = {
    _PHONE + _CHROME + "Mobile Safari/537.36": 26,
    _IPHONE + "Version/{safari} Mobile/15E148 Safari/604.1": 22,
    _WINDOWS + _CHROME + "Safari/537.36": 14,
    _VIEW
    + "Instagram {app} Android ({sdk}/{android}; 480dpi; 1080x2115; samsung; {device}; x1; qcom; de_DE)": 6,
    _VIEW + "[FB_IAB/FB4A;FBAV/{app};]": 6,
    _IPHONE + "Mobile/{build} Instagram {app} (iPhone14,5; iOS {ios}; de_DE; de; scale=3.00; 1170x2532)": 5,
    _IPHONE
    + "Mobile/{build} [FBAN/FBIOS;FBAV/{app};FBBV/{sdk};FBDV/iPhone14,5;FBMD/iPhone;FBSN/iOS;FBID/phone]": 4,
    _MAC + "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{safari} Safari/605.1.15": 4,
    _PHONE + _SAMSUNG: 4,
    _WINDOWS + _CHROME + "Safari/537.36 Edg/{chrome}": 3,
    _VIEW + "trill_{sdk} BytedanceWebview/d8a21c6": 3,
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:{firefox}) Gecko/20100101 Firefox/{firefox}": 2,
    "Mozilla/5.0 (X11; Linux x86_64; rv:{firefox}) Gecko/20100101 Firefox/{firefox}": 1,
}
_REFERRERS = (
    "", "", "", "https://www.google.com/", "https://l.instagram.com/", "https://l.facebook.com/l.php?u={number}",
    "https://www.youtube.com/watch?v={number}", "https://t.co/{number}", "https://news.example/{number}/kites",
    "https://blog{number}.example/", "https://shop.example/c/{number}?page=2",
)  # fmt: skip
_QUERIES = (
    "",
    "",
    "?utm_source=mail&utm_content={number}",
    "?gclid=Cj0KC{number}QjwB",
    "?fbclid=IwAR{number}",
    "?ref={number}",
)
_LANGUAGES = (
    "de-DE,de;q=0.9,en;q=0.8",
    "en-US,en;q=0.9",
    "fr-FR,fr;q=0.9,en-US;q=0.8",
    "es-ES,es;q=0.9",
    "en-GB",
)


def mixed_visits(links: int, count: int, seed: int = 1) -> Iterator[tuple[str, dict[str, str]]]:
    """So many requests for the links `kites/0` and up: each one's path with its query, and its headers."""
    random = Random(seed)  # noqa: S311 - the same visits each time
    shares = [*accumulate(1 / place for place in range(1, links + 1))]
    for _ in range(count):
        (link,) = random.choices(range(links), cum_weights=shares)
        number = str(random.randrange(100_000))
        headers = {
            "User-Agent": _agent(random),
            "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "Accept-Language": random.choice(_LANGUAGES),
            "Accept-Encoding": "gzip, deflate, br",
        }
        if referrer := random.choice(_REFERRERS):
            headers["Referer"] = referrer.format(number=number)
        yield f"/{path_of(link)}{random.choice(_QUERIES).format(number=number)}", headers


def _agent(random: Random) -> str:
    (template,) = random.choices([*_AGENTS], [*_AGENTS.values()])
    number = random.randrange
    return template.format(
        android=number(8, 17),
        device=f"{random.choice(('SM-A', 'SM-S', 'CPH', 'M20', 'RMX', 'Pixel '))}{number(1_000)}",
        build=f"{random.choice(('TP1A', 'UP1A', 'QP1A', '21F'))}.{number(230_000, 250_000)}.0{number(20)}",
        chrome=f"{number(100, 146)}.0.{number(5_000, 8_000)}.{number(200)}",
        ios=f"{number(15, 19)}_{number(7)}_{number(3)}",
        safari=f"{number(15, 19)}.{number(7)}",
        firefox=f"{number(100, 146)}.0",
        app=f"{number(200, 480)}.0.0.{number(60)}.{number(130)}",
        sdk=number(26, 36),
    )
