"""The error table: every error that the JSON APIs answer with.

The rows of the contract's table come first, in its order, then those that the decisions add.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.domain.fields.filled_text import fill

VALIDATION = "There was one or more validation error(s)"
NOT_FOUND = "The requested entity could not be found"
UNAUTHORIZED = "Authorization Failed!"
INVALID_PAGE = "Invalid pagination parameters"


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """One error: HTTP status, and the body's `code`, `errorMessage` and inner values (contract, "Errors").

    `inner_message` and `field_name` may contain {field} or {message}, to be filled in for each request. A row
    that is `listed` has shape B: the inner values stand in a list called `errors`. `at` is the field of the
    request that is at fault, if one is: operations beside the contract's tell it as `fieldName`.
    """

    status: int
    code: int
    message: str
    inner_message: str
    field_name: str
    listed: bool = False
    at: str = ""

    def body(self, **details: str) -> dict[str, Any]:
        """The JSON body, in shape A or B, to the letter. `details` fill the placeholders."""
        inner = self._inner(self.field_name, details)
        return self._envelope | ({"errors": [inner]} if self.listed else {"error": inner})

    def body_of_fields(self, errors: Sequence[Mapping[str, str]]) -> dict[str, Any]:
        """The JSON body in shape A with the first of these errors, and with all of them as `errors`."""
        return self._envelope | {"error": errors[0], "errors": list(errors)}

    def field_error(self, **details: str) -> dict[str, str]:
        """The inner values with the name of the field that is at fault."""
        return self._inner(self.at, details)

    @property
    def _envelope(self) -> dict[str, Any]:
        return {"code": self.code, "errorMessage": self.message}

    def _inner(self, field_name: str, details: Mapping[str, str]) -> dict[str, str]:
        return {
            "errorMessage": fill(self.inner_message, details),
            "fieldName": fill(field_name, details),
        }


# The contract's rows, in its order.
LINK_ID_INVALID = ErrorRow(
    400,
    101,
    VALIDATION,
    "Invalid linkId! LinkId is not valid for the organization!",
    "INVALID_VALUE",
    at="linkId",
)
FIELD_MISSING = ErrorRow(
    400, 101, VALIDATION, "{field} field is required", "REQUIRED_FIELD_MISSING", at="{field}"
)
SHORT_URL_EMPTY = ErrorRow(400, 101, VALIDATION, "shortUrl can not be null and empty!", "INVALID_VALUE")
LINK_DETAILS_EMPTY = ErrorRow(
    400,
    101,
    VALIDATION,
    "REQUIRED_FIELD_MISSING",
    "Both shortUrl and linkId are empty. One of them must be given.",
    listed=True,
)
LINK_DETAILS_UNKNOWN = ErrorRow(
    400,
    103,
    NOT_FOUND,
    "Invalid link details. We were unable to retrieve analytics for the provided link. "
    "Please verify the information and try again.",
    "INVALID_VALUE",
)
SHORT_URL_UNKNOWN = ErrorRow(
    400,
    139,
    "Client Error",
    "CLIENT_ERROR",
    json.dumps({"detail": "The short URL was not found for the organization."}),
)
PAGE_SIZE_INVALID = ErrorRow(400, 400, INVALID_PAGE, "Page size must be between 1 and 100", "size")
KEY_MISSING = ErrorRow(401, 130, UNAUTHORIZED, "'API-KEY' missing", "UNAUTHORIZED_ACCESS")
KEY_INVALID = ErrorRow(401, 130, UNAUTHORIZED, "Invalid Api Key", "UNAUTHORIZED_ACCESS")
KEY_INVALID_FOR_CREATE = ErrorRow(401, 130, UNAUTHORIZED, "Invalid API-KEY", "UNAUTHORIZED_ACCESS")
SUBSCRIPTION_NEEDED = ErrorRow(
    403,
    115,
    "Access Denied",
    "UNAUTHORIZED_ACCESS",
    "Your subscription is not valid for install analytics. Please upgrade your subscription.",
)
LINK_NOT_FOUND = ErrorRow(
    404, 103, NOT_FOUND, "Link not found or does not belong to your organization", "LINK_NOT_FOUND"
)
IDENTITY_NOT_FOUND = ErrorRow(
    404, 103, NOT_FOUND, "The device was never identified as this customer", "IDENTITY_NOT_FOUND"
)
SALE_NOT_FOUND = ErrorRow(
    404, 103, NOT_FOUND, "There is no sale with this transaction_id", "TRANSACTION_NOT_FOUND"
)
# Unlike other errors of what servers tell this one may be over soon: by it a server knows what to tell again.
REFUNDED_SALE_NOT_FOUND = ErrorRow(
    404,
    103,
    NOT_FOUND,
    "There is no sale with this transaction_id; tell this refund again once it is told: it is not kept",
    "TRANSACTION_NOT_FOUND",
)

# What the contract leaves open (docs/decisions/rest-errors.md).
FIELD_INVALID = ErrorRow(400, 101, VALIDATION, "{message}", "INVALID_VALUE", at="{field}")
PATH_TAKEN = ErrorRow(
    400,
    101,
    VALIDATION,
    "selected_path is already in use on this domain",
    "INVALID_VALUE",
    at="selected_path",
)
DOMAIN_NOT_CONFIGURED = ErrorRow(
    400, 101, VALIDATION, "domain is not configured for the organization", "INVALID_VALUE", at="domain"
)
EXTERNAL_ID_TAKEN = ErrorRow(
    400, 101, VALIDATION, "external_id is already in use by another link", "external_id", at="external_id"
)
TAG_TAKEN = ErrorRow(400, 101, VALIDATION, "name is already in use by another tag", "name", at="name")
TEMPLATE_TAKEN = ErrorRow(
    400, 101, VALIDATION, "name is already in use by another UTM template", "name", at="name"
)
BODY_NOT_AN_OBJECT = ErrorRow(400, 101, VALIDATION, "Request body must be a JSON object", "INVALID_VALUE")
IDEMPOTENCY_KEY_REUSED = ErrorRow(
    400,
    101,
    VALIDATION,
    "Idempotency-Key was already used with another request body",
    "INVALID_VALUE",
    at="Idempotency-Key",
)
PAGE_INVALID = ErrorRow(400, 400, INVALID_PAGE, "Page must be a whole number from 1", "page")
QUERY_INVALID = ErrorRow(400, 400, "Invalid query parameters", "{message}", "{field}", at="{field}")
CREATED_BY_INVALID = ErrorRow(
    400, 400, INVALID_PAGE, "createdBy must be one of api_user, api_rest, sdk", "createdBy"
)
LOGO_NOT_SET = ErrorRow(404, 103, NOT_FOUND, "Your organization has set no logo for QR codes", "LOGO_NOT_SET")
TAG_NOT_FOUND = ErrorRow(
    404, 103, NOT_FOUND, "Tag not found or does not belong to your organization", "TAG_NOT_FOUND"
)
TEMPLATE_NOT_FOUND = ErrorRow(
    404,
    103,
    NOT_FOUND,
    "Template not found or does not belong to your organization",
    "TEMPLATE_NOT_FOUND",
)
WEBHOOK_NOT_FOUND = ErrorRow(
    404, 103, NOT_FOUND, "Webhook not found or does not belong to your organization", "WEBHOOK_NOT_FOUND"
)
REPORT_NOT_FOUND = ErrorRow(
    404, 103, NOT_FOUND, "Report not found or does not belong to your organization", "REPORT_NOT_FOUND"
)
COST_NOT_FOUND = ErrorRow(
    404,
    103,
    NOT_FOUND,
    "Cost not found or does not belong to your organization",
    "COST_NOT_FOUND",
)
DOMAIN_NOT_FOUND = ErrorRow(
    404, 103, NOT_FOUND, "Domain not found or does not belong to your organization", "DOMAIN_NOT_FOUND"
)
ALERT_RULE_NOT_FOUND = ErrorRow(
    404,
    103,
    NOT_FOUND,
    "Alert rule not found or does not belong to your organization",
    "ALERT_RULE_NOT_FOUND",
)
ALERT_NOT_FOUND = ErrorRow(
    404, 103, NOT_FOUND, "Alert not found or does not belong to your organization", "ALERT_NOT_FOUND"
)
RECIPIENT_NOT_FOUND = ErrorRow(
    404,
    103,
    NOT_FOUND,
    "Recipient not found or does not belong to your organization",
    "RECIPIENT_NOT_FOUND",
)
KEY_NOT_FOUND = ErrorRow(
    404, 103, NOT_FOUND, "Key not found or does not belong to your organization", "KEY_NOT_FOUND"
)
MEMBER_NOT_FOUND = ErrorRow(
    404, 103, NOT_FOUND, "Member not found or does not belong to your organization", "MEMBER_NOT_FOUND"
)
INVITATION_NOT_FOUND = ErrorRow(
    404,
    103,
    NOT_FOUND,
    "Invitation not found or does not belong to your organization",
    "INVITATION_NOT_FOUND",
)
ARCHIVE_NOT_FOUND = ErrorRow(
    404, 103, NOT_FOUND, "Archive not found or does not belong to your organization", "ARCHIVE_NOT_FOUND"
)
PATH_UNKNOWN = ErrorRow(404, 404, "Not Found", "There is nothing at this path", "NOT_FOUND")
METHOD_NOT_ALLOWED = ErrorRow(
    405, 405, "Method Not Allowed", "This path does not answer to this method", "METHOD_NOT_ALLOWED"
)
DOMAIN_IN_USE = ErrorRow(
    409,
    409,
    "Conflict",
    "The domain has links, archived ones included; delete them for good first (DELETE /links/ID?purge=true)",
    "DOMAIN_IN_USE",
)
LINK_HAS_CLICKS = ErrorRow(
    409, 409, "Conflict", "The link has clicks; purge it with force=true to lose them", "LINK_HAS_CLICKS"
)
LINK_IS_HELD = ErrorRow(
    409, 409, "Conflict", "The operator of this service holds the link, so that it stays", "LINK_IS_HELD"
)
NO_MAIL_SERVER = ErrorRow(
    409,
    409,
    "Conflict",
    "No mail server is configured: who runs this service sets WAYLINK_SMTP_HOST and WAYLINK_SMTP_SENDER",
    "NO_MAIL_SERVER",
)
ARCHIVE_UNDER_WAY = ErrorRow(
    409, 409, "Conflict", "An archive is being made already; wait until it is ready", "ARCHIVE_UNDER_WAY"
)
TOO_MANY_ARCHIVES = ErrorRow(
    409,
    409,
    "Conflict",
    "Your organization has as many archives as it may have; delete one that you have downloaded",
    "TOO_MANY_ARCHIVES",
)
ARCHIVE_NOT_READY = ErrorRow(
    409, 409, "Conflict", "The archive has no file: its state says why", "ARCHIVE_NOT_READY"
)
FEED_PUT_BACK = ErrorRow(
    410,
    410,
    "Gone",
    "{field} is {message}, and this feed has not what was before that cursor: the service's database was put "
    "back from a backup. What was read is the same up to the cursor {cursor}: go on from there",
    "FEED_PUT_BACK",
)
BODY_TOO_SLOW = ErrorRow(
    408, 408, "Request Timeout", "The request body did not arrive in time", "REQUEST_TIMEOUT"
)
BODY_TOO_LARGE = ErrorRow(
    413, 413, "Content Too Large", "Request body must have at most {message} bytes", "CONTENT_TOO_LARGE"
)
MEDIA_TYPE_WRONG = ErrorRow(
    415, 415, "Unsupported Media Type", "Content-Type must be application/json", "UNSUPPORTED_MEDIA_TYPE"
)
RANGE_NOT_SATISFIABLE = ErrorRow(
    416, 416, "Range Not Satisfiable", "The file has no byte in this range", "Range"
)
PAGE_UNREADABLE = ErrorRow(
    422,
    422,
    "Unprocessable Content",
    "destination_url can't be read: it {message}",
    "destination_url",
    at="destination_url",
)
SCOPE_MISSING = ErrorRow(
    403,
    403,
    "Access Denied",
    "This key has not the scope {message}; its organization can make a key that has it",
    "SCOPE_MISSING",
)
KEY_LIMITED = ErrorRow(
    403,
    403,
    "Access Denied",
    "This key is limited to some links, and this request is not only about them",
    "KEY_LIMITED",
)
SCOPES_NOT_GRANTED = ErrorRow(
    403,
    403,
    "Access Denied",
    "This key must not make, change or replace a key that may do more than it may itself",
    "SCOPES_NOT_GRANTED",
)
ROLE_NOT_GRANTED = ErrorRow(
    403,
    403,
    "Access Denied",
    "This key must not grant, or take away, a role that may do more than it may itself",
    "ROLE_NOT_GRANTED",
)
LAST_OWNER = ErrorRow(
    409,
    409,
    "Conflict",
    "The organization's only owner stays one: make another member an owner first",
    "LAST_OWNER",
)
PROVISIONED_MEMBER = ErrorRow(
    409,
    409,
    "Conflict",
    "The organization's identity provider decides about this member: change it there",
    "PROVISIONED_MEMBER",
)
KEY_ENDED = ErrorRow(
    409, 409, "Conflict", "The key was revoked, is over, or was replaced already", "KEY_ENDED"
)
KEY_MAKES_NO_LINKS = ErrorRow(
    403,
    403,
    "Access Denied",
    "This key must not make links; its organization can make a key that may",
    "KEY_MAKES_NO_LINKS",
)
INSTALLS_NEED_SUBSCRIPTION = ErrorRow(
    403,
    115,
    "Access Denied",
    "measures has installs, for which your subscription is not valid. Please upgrade.",
    "measures",
    at="measures",
)
RATE_LIMIT_EXCEEDED = ErrorRow(
    429,
    429,
    "Too Many Requests",
    "The rate limit of this API key is used up; try again after the seconds in Retry-After",
    "RATE_LIMIT_EXCEEDED",
)
ADDRESS_LIMIT_EXCEEDED = ErrorRow(
    429,
    429,
    "Too Many Requests",
    "Too many requests came from this address; try again after the seconds in Retry-After",
    "RATE_LIMIT_EXCEEDED",
)
INSTALL_LIMIT_EXCEEDED = ErrorRow(
    429,
    429,
    "Too Many Requests",
    "This installation has made too many links; try again after the seconds in Retry-After",
    "RATE_LIMIT_EXCEEDED",
)
TOO_MANY_READERS = ErrorRow(
    429,
    429,
    "Too Many Requests",
    "Too many requests of your organization wait for events; end some of them, or ask without wait",
    "TOO_MANY_READERS",
)
TOO_MUCH_WAITS = ErrorRow(
    429,
    429,
    "Too Many Requests",
    "Too much of your organization's work waits already; try again after the seconds in Retry-After",
    "TOO_MUCH_WAITS",
)
SERVER_FAULT = ErrorRow(
    500, 500, "Internal Server Error", "The request failed through a fault of the service", "SERVER_FAULT"
)
STORAGE_UNREACHABLE = ErrorRow(
    503,
    503,
    "Service Unavailable",
    "The service can't reach its storage; try again",
    "STORAGE_UNREACHABLE",
)
FIGURES_UNAVAILABLE = ErrorRow(503, 503, "Service Unavailable", "{message}", "FIGURES_UNAVAILABLE")
DISK_NEARLY_FULL = ErrorRow(
    507,
    507,
    "Insufficient Storage",
    "The service's disk is nearly full; whoever runs the service has to make room first",
    "DISK_NEARLY_FULL",
)


def unknown_thing(thing: str, field_name: str) -> ErrorRow:
    """The row for the id of a thing that the organization has not."""
    message = f"{thing} not found or does not belong to your organization"
    return ErrorRow(404, 103, NOT_FOUND, message, field_name)
