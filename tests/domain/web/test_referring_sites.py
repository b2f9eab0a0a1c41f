"""The sites that visitors come from, by the hosts of referrers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_lowercase

import duckdb
import pytest
from publicsuffixlist import PublicSuffixList

from backend.domain.web.referring_sites import ANY_COUNTRY, _listed, is_of_mail, site_names, site_of
from backend.storage.analytics.conditions.referring_sites import site_in_sql

SITES = {
    "Google": ("google.com", "www.google.de", "www.google.co.uk", "google.com.br", "docs.google.com"),
    "Gmail": ("mail.google.com", "com.google.android.gm"),
    "Google News": ("news.google.com", "news.google.co.jp"),
    "Facebook": ("facebook.com", "m.facebook.com", "l.facebook.com", "lm.facebook.com", "fb.me"),
    "Instagram": ("l.instagram.com", "www.instagram.com"),
    "X (Twitter)": ("t.co", "x.com", "mobile.twitter.com", "com.twitter.android"),
    "Yahoo": ("yahoo.com", "de.search.yahoo.com", "search.yahoo.co.jp"),
    "Yahoo Mail": ("mail.yahoo.com", "mail.yahoo.co.uk", "mg.mail.yahoo.com"),
    "Pinterest": ("www.pinterest.de", "pinterest.co.kr", "pin.it"),
    "SendGrid": ("u123.ct.sendgrid.net",),
    "Mailchimp": ("us1.list-manage.com", "mailchi.mp"),
    # What is in no list is its own site.
    "news.example": ("news.example", "www.news.example", "m.news.example", "www2.news.example"),
    "google.example": ("google.example",),
    "notfacebook.com": ("www.notfacebook.com",),
    "google.com.evil.example": ("google.com.evil.example",),
    "Amazon": ("amazon.com.mx", "amazon.com.be", "www.amazon.co.jp"),
    # Where the registry has no com or co, somebody's own name is before the country.
    "google.com.de": ("google.com.de", "www.google.com.de"),
    "google.com.se": ("google.com.se",),
    "yahoo.co.de": ("yahoo.co.de", "m.yahoo.co.de"),
    "pinterest.org.uk": ("www.pinterest.org.uk",),
    "google.de.com": ("google.de.com",),
    "m.co": ("m.co",),
    "www.de": ("www.de",),
    "192.0.2.7": ("192.0.2.7",),
    "localhost": ("localhost",),
}  # fmt: skip
HOSTS = [(host, site) for site, hosts in SITES.items() for host in hosts]


def listed_hosts() -> Iterator[tuple[str, str]]:
    """Each host of the list with its site, and some before it and in countries."""
    for listed, name in site_names().items():
        hosts = [listed.replace(ANY_COUNTRY, end) for end in (".com", ".de", ".co.uk", ".com.au")]
        for host in dict.fromkeys(hosts):
            yield host, name


@pytest.mark.parametrize(("host", "site"), HOSTS)
def test_hosts_of_a_service_are_one_site(host: str, site: str) -> None:
    """Also those for phones, in countries, and apps; what only looks like it is another one."""
    assert site_of(host) == site


@pytest.mark.parametrize("beginning", ["com", "co"])
def test_countries_are_those_of_the_registries(beginning: str) -> None:
    """Below com and co in a country, a service has its name only where the list of browsers has these."""
    suffixes = PublicSuffixList(only_icann=True)
    pairs = [f"{first}{second}" for first in ascii_lowercase for second in ascii_lowercase]
    ends = [f"{beginning}.{country}" for country in pairs]
    assert [end for end in ends if site_of(f"google.{end}") == "Google"] == [
        end for end in ends if suffixes.publicsuffix(f"google.{end}") == end
    ]


def test_sql_finds_the_same_sites() -> None:
    """For every host in the list and for others."""
    hosts = [*listed_hosts(), *((f"www.{host}", site) for host, site in listed_hosts()), *HOSTS]
    with duckdb.connect() as connection:
        statement = f"SELECT host, {site_in_sql('known.host')} FROM (SELECT unnest($1) AS host) AS known"
        found = dict(connection.execute(statement, [[host for host, _ in hosts]]).fetchall())
        assert connection.execute(f"SELECT {site_in_sql('NULL::VARCHAR')}").fetchall() == [(None,)]
    assert found == {host: site_of(host) for host, _ in hosts}


def test_each_listed_host_is_of_the_site_that_has_it() -> None:
    """None is hidden by another one or stands there twice, and all are hosts in small letters."""
    names = [host for kind in ("mail", "others") for hosts in _listed()[kind].values() for host in hosts]
    assert len(names) == len(site_names())
    for host, site in listed_hosts():
        assert site_of(host) == site_names().get(host, site), host
        assert re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+", host), host


@pytest.mark.parametrize(
    ("host", "is_mail"),
    [
        ("mail.google.com", True),
        ("u1.ct.sendgrid.net", True),
        ("eu.list-manage.com", True),
        ("deref-gmx.net", True),
        ("eur03.safelinks.protection.outlook.com", True),
        ("www.google.com", False),
        ("www.facebook.com", False),
        ("news.example", False),
    ],
)
def test_mail_is_known(host: str, is_mail: bool) -> None:
    """Programs on the web, and services that send mail and lead all taps through a host of theirs."""
    assert is_of_mail(host) is is_mail
