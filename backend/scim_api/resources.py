"""What the service publishes of itself: users and groups with the attributes that it keeps, and no others.

A member of an organization is a name, an address and a role. What providers send beyond that, such as phone
numbers and managers, is accepted and not kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field
from scim2_models import (
    URN,
    AuthenticationScheme,
    Bulk,
    CaseExact,
    ChangePassword,
    ComplexAttribute,
    ETag,
    External,
    Filter,
    Mutability,
    Name,
    Patch,
    Reference,
    Required,
    Resource,
    ScimPolicy,
    ScimProvider,
    ServiceProviderConfig,
    Sort,
    Uniqueness,
)

if TYPE_CHECKING:  # references name resource types, not the classes below
    from scim2_models import Group, User

MOST_RESULTS = 200


class Email(ComplexAttribute):
    """An e-mail address of a user."""

    value: str | None = None
    """The address. By the primary one, the service recognizes who comes."""

    type: str | None = Field(None, examples=["work", "home", "other"])
    """What the address is for, such as "work"."""

    primary: bool | None = None
    """Whether this is the user's main address."""


class GroupOfUser(ComplexAttribute):
    """A group that a user is in."""

    value: Annotated[str | None, Mutability.read_only, CaseExact.true] = None
    """The group's id."""

    ref: Annotated[Reference["Group"] | None, Mutability.read_only] = Field(  # noqa: UP037
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    """The group's address."""

    display: Annotated[str | None, Mutability.read_only] = None
    """The group's name."""


class ScimUser(Resource[Any]):
    """A person whom the provider lets into the organization."""

    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:User")

    external_id: Annotated[str | None, CaseExact.true, Uniqueness.server] = None
    """The provider's own id of the user."""

    user_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    """The name by which the provider tells the user, mostly an e-mail address. Nobody else has it."""

    name: Name | None = None
    """The parts of the user's name."""

    Name: ClassVar[type[ComplexAttribute]] = Name

    display_name: str | None = None
    """The name that lists show."""

    active: bool | None = None
    """Whether the user may be a member. If not, they have no access to the organization."""

    emails: list[Email] | None = None
    """The user's e-mail addresses."""

    Emails: ClassVar[type[ComplexAttribute]] = Email

    groups: Annotated[list[GroupOfUser] | None, Mutability.read_only] = None
    """The groups that the user is in."""

    Groups: ClassVar[type[ComplexAttribute]] = GroupOfUser


class GroupMember(ComplexAttribute):
    """A user in a group."""

    value: Annotated[str | None, Mutability.immutable, CaseExact.true] = None
    """The user's id."""

    ref: Annotated[Reference["User"] | None, Mutability.immutable] = Field(  # type: ignore[type-arg]  # noqa: UP037
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    """The user's address."""

    type: Annotated[str | None, Mutability.immutable] = Field(None, examples=["User"])
    """Always "User": no group is in another one."""


class ScimGroup(Resource[Any]):
    """A group of users. Its name gives its members a role, where the organization says so."""

    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:Group")

    external_id: Annotated[str | None, CaseExact.true, Uniqueness.server] = None
    """The provider's own id of the group."""

    display_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    """The group's name. No other group has it."""

    members: list[GroupMember] | None = None
    """The users in the group."""

    Members: ClassVar[type[ComplexAttribute]] = GroupMember


# As they are published: the schemas have the names of their classes.
ScimUser.__name__, ScimGroup.__name__ = "User", "Group"
CONFIG = ServiceProviderConfig(
    patch=Patch(supported=True),
    bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
    filter=Filter(supported=True, max_results=MOST_RESULTS),
    change_password=ChangePassword(supported=False),
    sort=Sort(supported=False),
    etag=ETag(supported=True),
    authentication_schemes=[
        AuthenticationScheme(
            type=AuthenticationScheme.Type.oauthbearertoken,
            name="Provisioning token",
            description="A token that an owner makes on the page Provisioning of the dashboard",
            spec_uri=Reference[External]("https://www.rfc-editor.org/info/rfc6750"),
            primary=True,
        )
    ],
)
# What Entra ID and Okta send beside the letter of the RFCs: attributes that are not kept, removals that say
# in their value what goes, and a path such as emails[type eq "work"].value where there is no such address.
_POLICY = ScimPolicy(
    unknown=ScimPolicy.Unknown.ignore,
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,
    unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
)
PROVIDER = ScimProvider(models=[ScimUser, ScimGroup], config=CONFIG, policy=_POLICY)
