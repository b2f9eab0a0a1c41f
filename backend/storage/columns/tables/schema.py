"""The tables of an organization's files of columns: of its first file, and of its files of clicks.

Times are milliseconds since 1970. `link` is the number of a link in the table `links`, which is the files'
own; `known_at` is when the service was told of something: when it arrived, or where that was not noted, when
it happened. Texts that repeat are compressed by DuckDB. A row of a record, of a device or of a link is
replaced as a whole, with all rows that belong to it, whenever the feed names it again.
"""

# ruff: noqa: S608 - the number is a constant

from __future__ import annotations

import re
from collections.abc import Sequence

# Files of another format are made again.
FORMAT = 9

# What is known of a visit: where it came from, as its address said, and the click that led to it.
_VISIT = """
    "at" BIGINT, known_at BIGINT, link INTEGER,
    campaign VARCHAR, source VARCHAR, medium VARCHAR, term VARCHAR, content VARCHAR,
    variant VARCHAR, click_at BIGINT, click_mark BIGINT, is_named BOOLEAN
"""

CLICK_TABLES = """
-- The blocks, as they were stored first, whose clicks are in `clicks`; `id` is without the organization's.
CREATE TABLE blocks (block INTEGER, id VARCHAR, day INTEGER);
-- A row is a request, or as many alike as `weight` says: those of a day whose single clicks have expired are
-- added up by quarters of an hour, have no visitor, and their visitors are in `day_visitors`.
CREATE TABLE clicks (
    "at" BIGINT, link INTEGER, block INTEGER, weight UINTEGER,
    outcome VARCHAR, reason VARCHAR, platform VARCHAR, system VARCHAR, browser VARCHAR, kind VARCHAR,
    country VARCHAR, referrer VARCHAR, variant VARCHAR, visitor UINTEGER
);
-- The visitors of days whose single clicks have expired, by link; `day` is counted from 1970, in UTC.
CREATE TABLE day_visitors (day INTEGER, link INTEGER, visitor UINTEGER);
"""

# Of each file. One row: `forgotten` is how often something was deleted of which no byte is to stay since the
# file was written as a whole, and `expired_at` when what has expired was deleted first since then.
UPKEEP = """
CREATE TABLE upkeep (forgotten INTEGER DEFAULT 0, expired_at BIGINT);
INSERT INTO upkeep (forgotten) VALUES (0);
"""

TABLES = f"""
-- One row. `place` is the next place of the feed: where it is read on, once everything before it is here
-- (`is_loaded`), and in the files of clicks. `mark` is that of the cursor there (domain/feed/cursor). Of a
-- load, so many steps are `done`, and all blocks up to `clicks_until`. The numbers of links mean the same as
-- long as `numbering` does not change.
CREATE TABLE state (
    format INTEGER, place BIGINT DEFAULT 0, mark VARCHAR,
    is_loaded BOOLEAN DEFAULT false, done INTEGER DEFAULT 0, clicks_until BIGINT, numbering UUID
);
INSERT INTO state (format, numbering) VALUES ({FORMAT}, uuid());

-- The files of clicks, each by the first day that it has, counted from 1970; the first one has all before it.
CREATE TABLE click_files (first_day INTEGER);

-- Also links that only clicks or visits name: without `is_kept`, it is not stored (any more).
CREATE TABLE links (
    link INTEGER, id VARCHAR, is_kept BOOLEAN, domain VARCHAR, path VARCHAR, link_name VARCHAR,
    campaign VARCHAR, source VARCHAR, medium VARCHAR, term VARCHAR, content VARCHAR, tag_ids VARCHAR[]
);
CREATE TABLE tags (id VARCHAR, name VARCHAR);
-- What campaigns cost; `day` is counted from 1970, and an amount is in units of so many decimals (`digits`).
CREATE TABLE costs (
    id VARCHAR, campaign VARCHAR, day INTEGER, currency VARCHAR, digits UTINYINT, amount BIGINT
);
-- What the feed says of links that are kept: by the place of the entry, and the number of the fact in it.
CREATE TABLE link_changes (
    place BIGINT, number INTEGER, link INTEGER, "at" BIGINT, type VARCHAR, changed VARCHAR[]
);

-- `entry` is the file's own number of a device's rows, which stand together, as they were put here last. By
-- `key`, which follows from a name, what has it is found quickly.
CREATE TABLE devices (device VARCHAR, last_seen_at BIGINT, entry BIGINT, key UBIGINT);
-- Visits of devices, in the order of their lists: direct ones first, then touches (`is_touch`).
CREATE TABLE visits (device VARCHAR, number INTEGER, is_touch BOOLEAN, {_VISIT}, entry BIGINT);
-- `customer` is empty from where identities were not kept: then the device is nobody's.
CREATE TABLE identities (
    device VARCHAR, number INTEGER, "at" BIGINT, known_at BIGINT, customer VARCHAR,
    taken_back_at BIGINT, replaced_at BIGINT, is_server BOOLEAN, entry BIGINT
);

-- Leads, conversions and events. `record` is the file's own number; `kind` and `id` name it. An amount is in
-- units of so many decimals (`digits`); a lead has none. `at` is when it happened, by all tellings.
-- `metadata` has what an event's properties read (domain/analytics/event_properties.property_text).
CREATE TABLE records (
    record BIGINT, kind VARCHAR, id VARCHAR, name VARCHAR, product_id VARCHAR, transaction_id VARCHAR,
    currency VARCHAR, digits UTINYINT, amount BIGINT, "at" BIGINT, metadata MAP(VARCHAR, VARCHAR), key UBIGINT
);
CREATE TABLE tellings (
    record BIGINT, number INTEGER, "at" BIGINT, known_at BIGINT, device VARCHAR, customer VARCHAR,
    is_server BOOLEAN
);
-- Visits that are kept with a record: those that servers named for it, with the telling's number, and copies
-- of touches of its device, without a number.
CREATE TABLE record_visits (record BIGINT, telling INTEGER, {_VISIT});
-- What a sale's amount was, since when the service had been told so: of sales of which a further telling
-- changed it.
CREATE TABLE amounts (record BIGINT, known_at BIGINT, currency VARCHAR, digits UTINYINT, amount BIGINT);
-- A refund counts while its sale has its currency, and all of a sale's together up to its amount.
CREATE TABLE refunds (record BIGINT, "at" BIGINT, known_at BIGINT, currency VARCHAR, amount BIGINT);

CREATE TABLE installs (id VARCHAR, "at" BIGINT, platform VARCHAR, link INTEGER);
"""


def tables_in(schema: str) -> Sequence[str]:
    """The names of the tables that this makes.

    Whoever asked DuckDB for them, as by duckdb_tables(), would hold all files that are open until the end of
    the transaction: none of them could be closed, and opened again.
    """
    return re.findall(r"CREATE TABLE (\w+)", schema)
