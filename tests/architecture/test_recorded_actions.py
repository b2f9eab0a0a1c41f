"""Every operation and form says what it records in the audit log (recorded_actions.py, beside this file).

What requests do record is compared with that in every test (`records_as_declared` of tests/conftest.py).
"""

from __future__ import annotations

import re
from pathlib import Path

from quart import Quart

from backend.app_api import app_api
from backend.dashboard import dashboard
from backend.dashboard.audit.shown import KINDS
from backend.rest_api.openapi.operations import OPERATIONS
from backend.scim_api.blueprint import scim
from backend.storage.lifecycle.collections import COLLECTIONS
from backend.storage.schema.audited import Audited
from tests.architecture.recorded_actions import DECLARED

DOCUMENT = Path(__file__).parents[2] / "docs" / "audit.md"
# Actions that no collection's declaration names: what is recorded is no write of one document.
BY_THEMSELVES = {"link", "cost", "customer"}
# Of pages, it is recorded who took persons' data out, and who signed in by coming back from a provider.
PAGES = {
    *("dashboard.customer_export", "dashboard.archives_file", "rest.get_archive_file"),
    *("dashboard.single_sign_on_callback", "dashboard.single_sign_on_left"),
}


def changing_routes() -> set[str]:
    """The operations that are not GET, and the forms."""
    app = Quart(__name__)
    app.register_blueprint(dashboard)
    app.register_blueprint(app_api)
    app.register_blueprint(scim)
    forms = {rule.endpoint for rule in app.url_map.iter_rules() if "POST" in (rule.methods or ())}
    return forms | {f"rest.{operation.endpoint}" for operation in OPERATIONS if operation.method != "GET"}


def recorded_kinds() -> set[str]:
    """The kinds of targets that entries are about."""
    audited = [collection.audited for collection in COLLECTIONS]
    return {declared.kind for declared in audited if isinstance(declared, Audited)} | BY_THEMSELVES


def test_each_kind_has_a_name() -> None:
    """Each kind of target has a name on the page of the log, and a row in its documentation."""
    rows = re.findall(r"^\| (`[^|]*) \|", DOCUMENT.read_text().partition("## An entry")[0], re.MULTILINE)
    documented = {kind for row in rows for kind in re.findall(r"`(\w+)`", row)}
    assert documented == recorded_kinds() == KINDS.keys()


def test_each_declares_what_it_records() -> None:
    """What may change something has its actions in the list, or the reason why it records none."""
    missing = changing_routes() - DECLARED.keys()
    assert not missing, "say in recorded_actions.py which actions of the audit log these record"


def test_declared_actions_are_such_as_there_are() -> None:
    """A declaration is of a route that there is, and its actions are of kinds that collections declare."""
    assert DECLARED.keys() - changing_routes() == PAGES
    kinds = recorded_kinds()
    for route, actions in DECLARED.items():
        assert actions, route
        if not isinstance(actions, str):
            assert {action.partition(".")[0] for action in actions} <= kinds, route
