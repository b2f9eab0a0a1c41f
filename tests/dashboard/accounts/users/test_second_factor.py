"""The second factor: set up, asked for at each sign-in, used up, lost, and required by an organization."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from datetime import timedelta

import httpx
import pyotp
import pytest

from backend.dashboard.frame import blueprint
from backend.domain.accounts.roles import Role
from backend.domain.accounts.users import User
from backend.domain.ids import UserId
from backend.storage.accounts.users import users
from backend.storage.accounts.users.new_passwords import set_password
from backend.storage.accounts.users.passwords import hash_password
from backend.storage.driver.mongo import Database
from tests.conftest import MovableClock
from tests.dashboard.people import PASSWORD, FormsOf, Person, heading, make_user, open_session
from tests.facts.organizations import TestOrganization

PAGE = "/settings/second-factor"
STEP = timedelta(seconds=30)


@dataclass(slots=True)
class Phone:
    """An authenticator app, and the paper with the recovery codes."""

    clock: MovableClock
    secret: str
    recovery_codes: list[str] = field(default_factory=list)
    set_up_by: str = ""

    @property
    def code(self) -> str:
        """The code that it shows now."""
        return pyotp.TOTP(self.secret).at(self.clock())

    def next_code(self) -> str:
        """The code of the next half minute, once that has come."""
        self.clock.offset += STEP
        return self.code


@pytest.fixture
async def phone(person: Person, clock: MovableClock) -> Phone:
    """A phone with which the person has set the second factor up, as the page says."""
    fields = FormsOf((await person.get(PAGE)).text).fields_of(PAGE)
    phone = Phone(clock, fields["secret"])
    phone.set_up_by = phone.code
    answer = await person.client.post(PAGE, data=fields | {"code": phone.set_up_by, "password": PASSWORD})
    assert (answer.status_code, heading(answer)) == (200, "Recovery codes")
    phone.recovery_codes = re.findall(r'<li><code class="mono">([A-Z2-7-]+)</code>', answer.text)
    return phone


async def give_password(person: Person) -> None:
    """Sign out, and in again as far as the password goes."""
    await person.send("/tags", "/sign-out")
    answer = await person.sign_in()
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in/code")
    assert (await person.get("/")).status_code == 303, "the password alone lets nobody in"


async def give_code(person: Person, code: str) -> httpx.Response:
    """Type this code on the page that asks for one."""
    return await person.send("/sign-in/code", "/sign-in/code", code=code)


async def test_signing_in_takes_a_code(person: Person, phone: Phone) -> None:
    """After the password comes the code, and each code signs in once, the one of the set-up too."""
    await give_password(person)
    assert (await give_code(person, phone.set_up_by)).status_code == 422
    answer = await give_code(person, code := phone.next_code())
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert heading(await person.get("/tags")) == "Tags"
    await give_password(person)
    assert (await give_code(person, code)).status_code == 422
    assert (await give_code(person, phone.next_code())).status_code == 303


async def test_what_was_asked_for_comes_after_the_code(person: Person, phone: Phone) -> None:
    """The page before the sign-in is where one goes on, and it is within the dashboard."""
    await person.send("/tags", "/sign-out")
    asked_for = await person.sign_in(next="%2Ftags")
    assert asked_for.headers["Location"] == "/sign-in/code?next=/tags"
    page = asked_for.headers["Location"]
    answer = await person.send(page, "/sign-in/code", code=phone.next_code())
    assert answer.headers["Location"] == "/tags"


async def test_a_recovery_code_signs_in_once(person: Person, phone: Phone) -> None:
    """Ten are shown, however one is typed it works once, and the page says how many are left."""
    assert len(set(phone.recovery_codes)) == 10
    typed = phone.recovery_codes[3].replace("-", " ").lower()
    await give_password(person)
    answer = await give_code(person, typed)
    assert answer.headers["Location"] == f"{PAGE}?notice=recovery-code-used"
    assert "9 of your recovery codes are left" in (await person.get(PAGE)).text
    await give_password(person)
    assert (await give_code(person, typed)).status_code == 422


@pytest.mark.parametrize("kind", ["app", "recovery"])
async def test_one_of_those_who_send_a_code_at_once_gets_in(person: Person, phone: Phone, kind: str) -> None:
    """Also who has read the code over somebody's shoulder is not let in with it."""
    await give_password(person)
    code = phone.next_code() if kind == "app" else phone.recovery_codes[0]
    fields = FormsOf((await person.get("/sign-in/code")).text).fields_of("/sign-in/code") | {"code": code}
    answers = await asyncio.gather(*(person.client.post("/sign-in/code", data=fields) for _ in range(4)))
    addresses = [answer.headers.get("Location", "") for answer in answers]
    assert len([at for at in addresses if at == "/" or at.startswith(PAGE)]) == 1


async def test_wrong_codes_are_limited_as_wrong_passwords(person: Person, phone: Phone) -> None:
    """Nor does a right password in between begin anew."""
    await give_password(person)
    statuses = [(await give_code(person, "000000")).status_code for _ in range(5)]
    assert statuses == [422, 422, 422, 422, 429]
    assert (await person.sign_in()).status_code == 429
    late = await give_code(person, phone.next_code())
    assert (late.status_code, 0 < int(late.headers["Retry-After"]) <= 15) == (429, True)


async def test_a_code_has_to_come_within_ten_minutes(person: Person, phone: Phone) -> None:
    """Later, the password is asked for again."""
    await give_password(person)
    fields = FormsOf((await person.get("/sign-in/code")).text).fields_of("/sign-in/code")
    phone.clock.offset += timedelta(minutes=10)
    answer = await person.client.post("/sign-in/code", data=fields | {"code": phone.code})
    assert answer.headers["Location"] == "/sign-in?notice=sign-in-again"
    assert (await person.get("/sign-in/code")).headers["Location"] == "/sign-in"


async def test_a_new_password_comes_between_password_and_code(
    person: Person, phone: Phone, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who knew the former one is not let in, also if it comes when their session was found and they were not
    yet."""
    await give_password(person)

    async def find_later(database: Database, user_id: UserId) -> User | None:
        monkeypatch.undo()
        await set_password(database, user_id, await hash_password("the one that came later", "a"))
        return await users.find_user(database, user_id)

    page = await person.get("/sign-in/code")
    monkeypatch.setattr(blueprint, "find_user", find_later)
    answer = await person.submit(page, "/sign-in/code", code=phone.next_code())
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in?notice=sign-in-again")
    assert (await person.get("/tags")).status_code == 303


async def test_who_was_removed_between_password_and_code_is_not_let_in(
    person: Person, phone: Phone, database: Database
) -> None:
    """The right code leads back to the sign-in, as somebody's without an organization does."""
    await give_password(person)
    fields = FormsOf((await person.get("/sign-in/code")).text).fields_of("/sign-in/code")
    user = await users.find_user_by_email(database, person.email)
    assert user
    await users.set_roles(database, user.id, {})
    answer = await person.client.post("/sign-in/code", data=fields | {"code": phone.next_code()})
    assert answer.headers["Location"] == "/sign-in?notice=sign-in-again"


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"code": "000000"}, "Code is not the code that the app shows at this moment."),
        ({"password": "wrong"}, "Password is not right."),
    ],
)
async def test_what_is_not_set_up(
    person: Person, clock: MovableClock, changed: dict[str, str], sentence: str
) -> None:
    """The form says what is wrong, keeps the key that was scanned, and signing in stays as it was."""
    fields = FormsOf((await person.get(PAGE)).text).fields_of(PAGE)
    code = Phone(clock, fields["secret"]).code
    answer = await person.client.post(PAGE, data=fields | {"code": code, "password": PASSWORD} | changed)
    assert answer.status_code == 422
    assert sentence in answer.text
    assert FormsOf(answer.text).fields_of(PAGE)["secret"] == fields["secret"]
    await person.send("/tags", "/sign-out")
    assert (await person.sign_in()).headers["Location"] == "/"


async def test_the_second_factor_is_turned_off_with_the_password(person: Person, phone: Phone) -> None:
    """Then the password alone signs in; who found the browser open can't do it."""
    refused = await person.send(PAGE, f"{PAGE}/off", password="wrong")
    assert (refused.status_code, "Password is not right." in refused.text) == (422, True)
    await person.send(PAGE, f"{PAGE}/off", password=PASSWORD)
    await person.send("/tags", "/sign-out")
    assert (await person.sign_in()).headers["Location"] == "/"
    assert phone.secret not in (await person.get(PAGE)).text


async def test_new_recovery_codes_replace_the_old(person: Person, phone: Phone) -> None:
    """An old one does not sign in any more, a new one does."""
    refused = await person.send(PAGE, f"{PAGE}/recovery-codes", renewing_password="wrong")
    assert refused.status_code == 422
    answer = await person.send(PAGE, f"{PAGE}/recovery-codes", renewing_password=PASSWORD)
    renewed = re.findall(r'<li><code class="mono">([A-Z2-7-]+)</code>', answer.text)
    assert len(renewed) == 10
    assert not {*renewed} & {*phone.recovery_codes}
    await give_password(person)
    assert (await give_code(person, phone.recovery_codes[0])).status_code == 422
    assert (await give_code(person, renewed[0])).status_code == 303


async def test_an_organization_requires_it(
    person: Person, phone: Phone, database: Database, organization: TestOrganization
) -> None:
    """Every page of a member without one leads to the set-up, forms too; who has one is not held up."""
    require = "/settings/require-second-factor"
    await person.send("/settings", require, requires_second_factor="on")
    assert heading(await person.get("/tags")) == "Tags"
    member = Person(person.client, await make_user(database, organization.id, role=Role.EDITOR))
    await open_session(database, member)
    for path in ("/", "/links", "/settings"):
        assert (await member.get(path)).headers["Location"] == PAGE
    shown = await member.get(PAGE)
    assert "requires a second factor" in shown.text
    fields = FormsOf(shown.text).fields_of(PAGE)
    token = {name: fields[name] for name in fields if name != "secret"}
    assert (await member.client.post("/tags", data=token | {"name": "x"})).headers["Location"] == PAGE
    code = Phone(phone.clock, fields["secret"]).code
    await member.client.post(PAGE, data=fields | {"code": code, "password": PASSWORD})
    assert heading(await member.get("/tags")) == "Tags"


async def test_who_requires_one_has_one(person: Person, database: Database) -> None:
    """Else the first to be locked out would be who asked for it."""
    require = "/settings/require-second-factor"
    answer = await person.send("/settings", require, requires_second_factor="on")
    assert (answer.status_code, "needs your own second factor first" in answer.text) == (422, True)
    assert (await person.get("/tags")).status_code == 200


async def test_what_is_stored_signs_nobody_in(person: Person, phone: Phone, database: Database) -> None:
    """Of recovery codes only hashes are stored."""
    user = await users.find_user_by_email(database, person.email)
    assert user
    assert user.second_factor
    stored = " ".join(user.second_factor.recovery_hashes)
    assert [code for code in phone.recovery_codes if code.replace("-", "") in stored.upper()] == []
