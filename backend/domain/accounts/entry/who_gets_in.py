"""Who gets in: accounts, their addresses, memberships and sign-ins, as one state machine on one page.

Whoever acts in an organization has proved to be somebody whom that organization let in. There are two ways.

**An own account** is a person's, who signs in with a password or a passkey. An address has one in the whole
service. Its own sign-in opens all its memberships, so each begins with the invitation of its organization
*and* the account's own sign-in (`joining`).

**A managed account** (`User.managed_by`) is an organization's, whose identity provider named the person. It
has neither password nor second factor nor passkeys, and no link sets any. What a provider says counts for its
own organization: two organizations' providers that name one address make two accounts, and neither touches
the own account with that address, unless it is a member of the organization already.

**A session** knows how it began. Through the provider of an organization, it opens that organization; by the
account's own sign-in, all memberships of an own account (`as_opened`).

**The address of an own account is proved** (`User.is_address_proved`) while its password was set by somebody
who read a mail to the address. A link that anybody else has seen proves nothing: the owner who got it may
have opened it, and may know the password, have added a passkey, or be signed in still. Until it is proved,
the account goes no further: another organization is joined with a new password, which ends all of that.

| what happens | to an account that is proved | to one that is not |
|---|---|---|
| an invitation is accepted, no account | | made; proved if the link came by mail only |
| … an account without organizations | ends, and the same | ends, and the same |
| … own sign-in shown | joins | joins with a new password; proved by a mailed link |
| … by a mailed link, without a sign-in | must sign in | joins with a new password, and is proved |
| … by a handed link, without a sign-in | must sign in, which is not told | the same |
| a new password by a mailed link | stays so, with its second factor | proved; all else that signed in ends |
| a new password by a handed link | is not proved any more | stays so |
| the former password is replaced by its user | stays so | stays so |
| a membership ends | stays so; without any it can't sign in | the same |
| the provider of an organization names the address | joins if it is a member already | the same |
| it is restored with an organization | is not proved any more | stays so |
| it is a member in a restored organization | joins | joins; ends its sign-in if it is not the archive's |
| another account, with its address, is a member there | stays so; is to be invited | the same |

A new password ends all sessions and all other links for one. Where the sign-in may have passed to somebody
else (`NewPassword.changes_hands`), organizations that the account has left don't know it any more: neither
their identity provider nor SCIM brings it back.

**Whether an address has an account** is told those who are signed in to it and those who read its mails.
Whoever opens a handed invitation is offered a sign-in and a password alike, and whoever sends a password is
asked to sign in (`as_told`). Where there is an account, that password is dropped, and the invitation stays
open. So somebody who wants to know has to use the invitation up, and makes the account that there was not.

A handed link for a new password works only while whoever handed it may hand one (`may_hand_reset`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from backend.domain.accounts.roles import Role
from backend.domain.accounts.sessions import Session
from backend.domain.accounts.users import User


class LinkWay(StrEnum):
    """How a link reached whoever opens it."""

    MAILED = "mailed"
    """In a mail to the account's address, which nobody else was shown."""
    HANDED = "handed"
    """Somebody was shown it, to pass it on."""


class Joining(StrEnum):
    """What an invitation takes to be accepted."""

    NEW_ACCOUNT = "new_account"
    """A password for a new account."""
    OWN_SIGN_IN = "own_sign_in"
    """Nothing more: whoever accepts has shown the account's own sign-in."""
    NEW_PASSWORD = "new_password"  # noqa: S105 - a word for it
    """A new password for the account that there is."""
    SIGN_IN_FIRST = "sign_in_first"
    """The account's own sign-in."""
    UNTOLD = "untold"
    """A password for a new account or the own sign-in: which one is not told."""


@dataclass(frozen=True, slots=True)
class NewPassword:
    """What a new password means for an own account.

    With `changes_hands`, the sign-in may have passed to somebody else. `ends_factors` says whether second
    factor and passkeys end.
    """

    is_address_proved: bool
    changes_hands: bool
    ends_factors: bool


def joining(account: User | None, way: LinkWay, *, is_signed_in: bool) -> Joining:
    """What it takes to accept an invitation that came this way. `account` is the own one with the invited
    address, `is_signed_in` whether its own sign-in was shown."""
    if account is None or not account.org_ids:
        return Joining.NEW_ACCOUNT
    if account.is_address_proved:
        return Joining.OWN_SIGN_IN if is_signed_in else Joining.SIGN_IN_FIRST
    if is_signed_in or way is LinkWay.MAILED:
        return Joining.NEW_PASSWORD
    return Joining.SIGN_IN_FIRST


def as_told(needed: Joining, way: LinkWay, *, is_signed_in: bool) -> Joining:
    """What whoever opens the link is told of what it takes. A handed link may be in a stranger's hands."""
    return needed if is_signed_in or way is LinkWay.MAILED else Joining.UNTOLD


def password_by_joining(way: LinkWay) -> NewPassword:
    """A password that was set with an invitation that came this way."""
    return NewPassword(way is LinkWay.MAILED, changes_hands=True, ends_factors=True)


def password_by_link(account: User, way: LinkWay) -> NewPassword:
    """A password that was set by a link for it. An owner who hands one over takes no second factor away."""
    if way is LinkWay.HANDED:
        return NewPassword(is_address_proved=False, changes_hands=True, ends_factors=False)
    is_new = not account.is_address_proved
    return NewPassword(is_address_proved=True, changes_hands=is_new, ends_factors=is_new)


def password_by_its_user(account: User) -> NewPassword:
    """A password that was set by somebody who knew the former one."""
    return NewPassword(account.is_address_proved, changes_hands=False, ends_factors=False)


def ends_sign_in_by_restore(account: User, archived_hash: str | None) -> bool:
    """Whether an account loses its sign-in as an organization is restored that has it as a member.

    `archived_hash` is that of the password in the archive. With another one, a handed link may have set it,
    by an owner who is none of the restored organization.
    """
    return not account.is_address_proved and account.password_hash not in {None, archived_hash}


def may_hand_reset(owner: User, account: User) -> bool:
    """Whether this user may get a link that sets the account's password, and whether the link works.

    Who sets a password signs in with it everywhere, so it takes an owner of all of the account's
    organizations.
    """
    return (
        account.managed_by is None
        and bool(account.org_ids)
        and all(org_id in owner.org_ids and owner.role_in(org_id) is Role.OWNER for org_id in account.org_ids)
    )


def as_opened(user: User, session: Session) -> User:
    """The user with the memberships that a session opens, and no others."""
    if session.provider_org_id is not None:
        return user.within(session.provider_org_id)
    return user if user.managed_by is None else replace(user, org_ids=(), roles={})
