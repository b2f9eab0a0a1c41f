"""Reports with a password."""

from __future__ import annotations

from datetime import datetime, timedelta

import httpx
import pytest

from backend.concurrency.fair_thread import TooManyWait
from backend.dashboard.shared import passwords
from backend.domain.links.password_passes import PASS_DURATION
from backend.storage.driver.mongo import Database
from backend.storage.reports.reports import change_report
from tests.conftest import MovableClock
from tests.dashboard.people import FormsOf, heading
from tests.dashboard.shared.conftest import ReportFactory, path_of

PASSWORD = "kites & röpes"
AT_THE_TOP = {"Sec-Fetch-Dest": "document"}


async def test_who_knows_the_password_gets_in(
    reader: httpx.AsyncClient, make_report: ReportFactory, clock: MovableClock
) -> None:
    """The form tells nothing; the right password leads to the page, which a cookie of this report opens for
    twelve hours."""
    report = await make_report(password=PASSWORD)
    path = path_of(report)
    for asked in (await reader.get(path), await reader.get(f"{path}/report.csv")):
        assert (asked.status_code, heading(asked)) == (200, "This report has a password")
        assert report.name not in asked.text
        assert "set-cookie" not in asked.headers
    wrong = await reader.post(path, data={"password": "ropes"}, headers=AT_THE_TOP)
    assert (wrong.status_code, "set-cookie" in wrong.headers) == (403, False)
    assert "The password is not right." in wrong.text
    clock.offset += timedelta(minutes=1)  # the pause after a wrong try
    right = await reader.post(path, data={"password": PASSWORD}, headers=AT_THE_TOP)
    assert (right.status_code, right.headers["location"]) == (303, path)
    attributes = right.headers["set-cookie"].split("; ")[1:]
    assert sorted(attributes) == ["HttpOnly", f"Path={path}", "SameSite=Lax"]
    assert heading(await reader.get(path)) == report.name
    assert (await reader.get(f"{path}/report.csv")).text.startswith("day,")
    clock.offset += PASS_DURATION
    assert heading(await reader.get(path)) == "This report has a password"


async def test_in_a_frame_no_cookie_is_needed(reader: httpx.AsyncClient, make_report: ReportFactory) -> None:
    """The answer to the form is the page itself, and its button for the file carries the pass."""
    report = await make_report(password=PASSWORD, embed_origins=("https://shop.example",))
    path = path_of(report)
    page = await reader.post(path, data={"password": PASSWORD}, headers={"Sec-Fetch-Dest": "iframe"})
    assert (page.status_code, heading(page)) == (200, report.name)
    reader.cookies.clear()
    fields = FormsOf(page.text).fields_of(f"{path}/report.csv")
    file = await reader.post(f"{path}/report.csv", data=fields)
    assert file.text.startswith("day,")
    forged = await reader.post(f"{path}/report.csv", data={"pass": fields["pass"][:-1]})
    assert heading(forged) == "This report has a password"


async def test_a_pass_is_of_one_report_and_one_password(
    reader: httpx.AsyncClient, make_report: ReportFactory, database: Database, now: datetime
) -> None:
    """It opens no other report of the same password, and none once the password is another one."""
    report, other = await make_report(password=PASSWORD), await make_report(password=PASSWORD)
    page = await reader.post(path_of(report), data={"password": PASSWORD})
    given = FormsOf(page.text).fields_of(f"{path_of(report)}/report.csv")
    reader.cookies.clear()
    asked = "This report has a password"
    assert heading(await reader.post(path_of(other), data=given)) == asked
    assert heading(await reader.post(path_of(report), data=given)) == report.name
    await change_report(database, report.org_id, report.id, {"password_hash": other.password_hash}, now)
    assert heading(await reader.post(path_of(report), data=given)) == asked


async def test_guessing_is_bounded(reader: httpx.AsyncClient, make_report: ReportFactory) -> None:
    """After a few wrong tries an address has to wait, also with the right password."""
    report = await make_report(password=PASSWORD)
    statuses = [
        (await reader.post(path_of(report), data={"password": str(number)})).status_code
        for number in range(6)
    ]
    assert statuses == [403, 403, 403, 403, 403, 429]
    waits = await reader.post(path_of(report), data={"password": PASSWORD})
    assert waits.status_code == 429
    assert int(waits.headers["retry-after"]) > 0
    assert "Too many wrong tries." in waits.text


async def test_what_was_not_tried_is_not_counted(
    reader: httpx.AsyncClient, make_report: ReportFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A password that the service could not check is no wrong one, however often that happens."""
    report = await make_report(password=PASSWORD)

    async def check(*_: object) -> bool:
        raise TooManyWait

    with monkeypatch.context() as patch:
        patch.setattr(passwords, "is_password", check)
        for _ in range(7):
            assert (await reader.post(path_of(report), data={"password": PASSWORD})).status_code == 503
    assert (await reader.post(path_of(report), data={"password": PASSWORD})).status_code in {200, 303}
