"""The service's settings: one frozen dataclass, with the default and the rule of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from backend.domain.errors import OperatorError
from backend.domain.fields.addresses.receiver_url import is_loopback_url
from backend.domain.taps.in_app_browsers import InAppBrowsers, packaged_in_app_browsers, read_in_app_browsers
from backend.domain.web.host_names import normalize_host
from backend.domain.web.name_servers import parse_name_server
from backend.domain.web.short_urls import ShortUrlForm
from backend.system import setting_values as values_of
from backend.system.shown_address import HIDDEN, shown_address


class SmtpTls(StrEnum):
    """How the connection to the mail server is encrypted."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


class InvalidSetting(OperatorError):
    """A setting has an invalid value. The message names the variable and the rule."""

    def __init__(self, variable: str, value: str, rule: str) -> None:
        super().__init__(f"{variable} is {value!r}, but it must be {rule}.")


def setting(
    default: Any,
    parse: Callable[[str], Any],
    rule: str,
    help_text: str,
    shown: Callable[[Any], str] | None = None,
) -> Any:
    """A field of Settings.

    `parse` turns the variable's text into the value; `rule` completes "it must be". `shown` is for secrets:
    it turns the value into what may be printed.
    """
    metadata = {"parse": parse, "rule": rule, "help": help_text} | ({"shown": shown} if shown else {})
    return field(default=default, metadata=metadata)


def _in_app_browsers(text: str) -> Path:
    """A file of in-app browsers that can be read. Raises ValueError."""
    path = values_of.existing_file(text)
    read_in_app_browsers(path.read_text(encoding="utf-8"))
    return path


def _host_name(text: str) -> str:
    """A host name in its normal form; "" for the empty text. Raises ValueError."""
    return normalize_host(text) if text else ""


def _name_servers(text: str) -> tuple[str, ...]:
    """Addresses of DNS servers. Raises ValueError."""
    servers = values_of.words(text)
    for server in servers:
        parse_name_server(server)
    return servers


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. `Settings()` has the defaults; `load_settings` (environment.py) reads the environment."""

    host: str = setting("127.0.0.1", str, "an address", "Address that the service listens on.")
    port: int = setting(8080, values_of.port, "a port from 1 to 65535", "Port that the service listens on.")
    base_url: str = setting(
        "",
        values_of.web_address,
        "an http or https address without query",
        "Public address of the API; its host name serves the API, every other host name is a link domain. "
        "Default: http://localhost:PORT.",
    )
    mongodb_uri: str | None = setting(
        None,
        str,
        "a MongoDB URI",
        "MongoDB replica set to use. Unset: the service starts a mongod of its own.",
        shown=shown_address,
    )
    mongodb_database: str = setting("waylink", str, "a database name", "Name of the MongoDB database.")
    data_dir: Path = setting(
        Path("data"),
        Path,
        "a folder",
        "Folder for clicks not shipped yet, and for the service's own MongoDB.",
    )
    demo_port: int = setting(
        8081, values_of.port, "a port from 1 to 65535", "Port of the demo site (`make run`)."
    )
    local_short_urls: bool = setting(
        False,
        values_of.flag,
        "true or false",
        "Give short URLs on *.localhost domains as http with the service's port, so that they open on this "
        "machine without TLS. `make run` turns it on.",
    )
    rate_limit: int = setting(
        600, values_of.positive, "a whole number above 0", "REST requests a minute for each key."
    )
    key_call_limit: int = setting(
        60_000,
        values_of.positive,
        "a whole number above 0",
        "Calls of the browser SDK, or opens of apps, a minute for each key.",
    )
    address_call_limit: int = setting(
        12_000,
        values_of.positive,
        "a whole number above 0",
        "The same for each address of visitors (an IPv6 address counts by its first 64 bits), in each "
        "organization. All visitors who come through a proxy that is not trusted have one address.",
    )
    address_install_limit: int = setting(
        600,
        values_of.positive,
        "a whole number above 0",
        "New installs, and links of installations, an hour for each address, in each organization.",
    )
    install_link_limit: int = setting(
        50,
        values_of.positive,
        "a whole number above 0",
        "Links a day that each installation of an app may make.",
    )
    keyless_request_limit: int = setting(
        600,
        values_of.positive,
        "a whole number above 0",
        "Requests a minute without a valid key, for each address.",
    )
    uncounted_visit_limit: int = setting(
        120,
        values_of.positive,
        "a whole number above 0",
        "Visits of short URLs a minute that don't count (crawlers, HEAD, ...) and are recorded, for each "
        "address. Beyond it they are answered all the same.",
    )
    analytics_memory: int = setting(
        160,
        values_of.positive,
        "a whole number above 0",
        "Megabytes that questions of analytics may take, of all organizations together. What needs more is "
        "put on disk meanwhile.",
    )
    analytics_threads: int = setting(
        2, values_of.positive, "a whole number above 0", "Threads that answer questions of analytics."
    )
    analytics_seconds: int = setting(
        20,
        values_of.positive,
        "a whole number above 0",
        "Seconds after which a question of analytics is given up.",
    )
    trusted_proxies: tuple[str, ...] = setting(
        (),
        values_of.networks,
        "addresses or networks, separated by commas",
        "Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed.",
    )
    sdk_prefixes: tuple[str, ...] = setting(
        (),
        values_of.paths,
        "paths such as /a/hello, separated by commas, that the service has no page at",
        "Names for the browser SDK that a first-party proxy passes on as they are. With /a/hello the service "
        "also gives the script at /a/hello.js and takes its calls at /a/hello. Name them as they arrive: "
        "/hello, where the proxy cuts /a off.",
    )
    metrics_token: str = setting(
        "",
        str,
        "a text",
        "Who sends it as `Authorization: Bearer TOKEN` may read /metrics. Unset: only this machine may.",
        shown=lambda _: HIDDEN,
    )
    log_level: str = setting(
        "warning",
        values_of.log_level,
        "debug, info, warning or error",
        "From which level on the service logs, as JSON lines on stderr; at info, each API request.",
    )
    domain_target: str = setting(
        "",
        _host_name,
        "a host name",
        "Host name that link domains are to lead to by a CNAME record, and whose addresses those get that "
        "can't have one: that of the proxy before the service. Default: the host of WAYLINK_BASE_URL.",
    )
    dns_servers: tuple[str, ...] = setting(
        (),
        _name_servers,
        "IP addresses, each with or without a port, separated by commas",
        "DNS servers that are asked for the records of link domains, such as 9.9.9.9. Unset: those of the "
        "system. Name public ones where the system's know other addresses of your domains than the world.",
    )
    block_list: Path | None = setting(
        None,
        values_of.existing_file,
        "a file that exists",
        "File of addresses that no link may lead to, one a line, such as evil.example or shop.example/fake; "
        "read again within seconds after it has changed. Links that lead there already are stopped.",
    )
    in_app_browsers: Path | None = setting(
        None,
        _in_app_browsers,
        "a file of the form of in_app_browsers.json",
        "File of in-app browsers and how links leave them, in the place of the one that comes with the "
        "service, which docs/taps.md describes; read when the service starts.",
    )
    private_destinations: bool = setting(
        False,
        values_of.flag,
        "true or false",
        "Let previews, checks of destinations and single sign-on reach addresses that are not public: for "
        "intranets.",
    )
    check_destinations_hours: float = setting(
        0.0,
        values_of.hours_or_none,
        "hours, from 0 to 8784",
        "Once in how many hours the service looks, slowly, whether links' destinations answer. 0: never.",
    )
    archive_days: int = setting(
        7,
        values_of.days,
        "a whole number of days from 1 to 366",
        "For how many days an archive of an organization can be downloaded that was made in the dashboard or "
        "over REST.",
    )
    country_header: str = setting(
        "",
        str,
        "the name of a header",
        "Header in which a trusted proxy tells the visitor's country, such as CF-IPCountry.",
    )
    mmdb: Path | None = setting(
        None,
        values_of.existing_file,
        "a file that exists",
        "MaxMind database (mmdb) of countries. Unset: a table that ships with the service is used.",
    )
    smtp_host: str = setting(
        "",
        str,
        "a host name",
        "Mail server that takes the service's mails: figures of saved reports, and alerts. Unset: no mail is "
        "sent.",
    )
    smtp_port: int | None = setting(
        None,
        values_of.port,
        "a port from 1 to 65535",
        "Port of the mail server. Default: 587 with starttls, 465 with tls, 25 with none.",
    )
    smtp_tls: SmtpTls = setting(
        SmtpTls.STARTTLS,
        SmtpTls,
        "starttls, tls or none",
        "How the connection to the mail server is encrypted. none is for a server on this machine.",
    )
    smtp_user: str = setting(
        "", str, "a text", "User name at the mail server. Unset: the service does not sign in there."
    )
    smtp_password: str = setting("", str, "a text", "Password at the mail server.", shown=lambda _: HIDDEN)
    smtp_sender: str = setting(
        "",
        values_of.mail_sender,
        "an e-mail address, such as Waylink <links@shop.com>",
        "Whom mails come from. Needed with WAYLINK_SMTP_HOST; its domain should allow the mail server (SPF, "
        "DKIM).",
    )
    link_cache_size: int = setting(
        100_000,
        values_of.positive,
        "a whole number above 0",
        "Links that each process keeps in memory; each address of a link's rules counts as one more, and so "
        "does each further kB of a link's texts.",
    )
    link_cache_seconds: float = setting(
        10.0,
        values_of.seconds,
        "seconds, above 0 and below 86400",
        "How long a link is used without asking again, while the database tells of no changes.",
    )
    link_file_seconds: float = setting(
        86400.0,
        values_of.seconds_or_none,
        "seconds, from 0 to 86400",
        "How long after they were last known to be current links redirect from the file `links.cache` in the "
        "data folder, where MongoDB can't be reached since the service started. 0: never.",
    )
    deferred_link_seconds: float = setting(
        3600.0,
        values_of.seconds_or_none,
        "seconds, from 0 to 86400",
        "How long after a click an app's first launch may be matched with it by address (deferred deep "
        "link). 0: only the install referrer and texts of the clipboard count, and no hash of an address is "
        "kept.",
    )
    connections: int = setting(
        10_000,
        values_of.positive,
        "a whole number above 0",
        "Connections that each process keeps open; fewer where the system allows a process fewer files. A "
        "new one beyond that ends the one that has been idle for longest.",
    )
    keep_alive_seconds: float = setting(
        75.0,
        values_of.seconds,
        "seconds, above 0 and below 86400",
        "How long a connection without a request stays open. Longer than a proxy in front keeps an idle one "
        "(60 for nginx and many load balancers), which else may send a request as it is closed.",
    )
    workers: int = setting(
        1, values_of.positive, "a whole number above 0", "Worker processes of the service."
    )
    stall_seconds: float = setting(
        10.0,
        values_of.seconds,
        "seconds, above 0 and below 86400",
        "How long a worker's event loop may stand still, or the worker be stopped from outside, before it is "
        "ended and replaced; the log says where it stood. To use a debugger: 86000.",
    )
    drain_seconds: float = setting(
        1.0,
        values_of.seconds,
        "seconds, above 0 and below 86400",
        "How long a stopping service goes on answering, with /readyz at 503 and each answer the last on its "
        "connection, before it closes its port. Behind a load balancer: longer than its health checks take.",
    )
    graceful_seconds: float = setting(
        20.0,
        values_of.seconds,
        "seconds, above 0 and below 86400",
        "How long a stopping service waits, with its port closed, for answers that are under way.",
    )
    last_ship_seconds: float = setting(
        5.0,
        values_of.seconds,
        "seconds, above 0 and below 86400",
        "How long a stopping service goes on moving clicks to MongoDB, the longest that it waits for it; the "
        "rest stays on disk, and the next start ships it.",
    )

    def __post_init__(self) -> None:
        if not self.base_url:
            object.__setattr__(self, "base_url", f"http://localhost:{self.port}")

    @property
    def known_in_app_browsers(self) -> InAppBrowsers:
        """What the file of in-app browsers says. Raises OSError where it is gone."""
        if self.in_app_browsers is None:
            return packaged_in_app_browsers()
        return read_in_app_browsers(self.in_app_browsers.read_text(encoding="utf-8"))

    @property
    def sends_mail(self) -> bool:
        """Whether a mail server is configured."""
        return bool(self.smtp_host and self.smtp_sender)

    @property
    def short_url_form(self) -> ShortUrlForm:
        """How the service writes short URLs."""
        return ShortUrlForm(self.port if self.local_short_urls else None)

    @property
    def allows_loopback_receivers(self) -> bool:
        """Whether webhooks may go to this machine, also without TLS: where the service is there itself."""
        return is_loopback_url(self.base_url)

    @property
    def clicks_dir(self) -> Path:
        """The folder for clicks that are not shipped yet."""
        return self.data_dir / "clicks"

    @property
    def unreadable_clicks_dir(self) -> Path:
        """The folder for records of clicks that can't be read."""
        return self.clicks_dir / "unreadable"
