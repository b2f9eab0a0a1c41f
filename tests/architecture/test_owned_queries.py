"""Who asks for, and changes, what an organization owns: each query names the organization."""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from backend.storage.lifecycle.collections import COLLECTIONS
from backend.storage.schema.ownership import ByMembership, NotOwned

STORAGE = Path(__file__).parents[2] / "backend" / "storage"
READS = {"aggregate", "count_documents", "distinct", "find", "find_one"}
WRITES = {
    "delete_many", "delete_one", "find_one_and_delete", "find_one_and_update", "replace_one", "update_many",
    "update_one",
}  # fmt: skip
BULK_WRITES = {"DeleteMany", "DeleteOne", "ReplaceOne", "UpdateMany", "UpdateOne"}
# People may belong to several organizations, and change what is theirs.
NOT_OWNED = {
    collection.name for collection in COLLECTIONS if isinstance(collection.owned_by, (ByMembership, NotOwned))
}
# What names the organization: its id, and the queries that a collection's declaration makes of it.
NAMES_OWNER = re.compile(r"org_ids?\b|\.scope\(|\.condition\(")
Function = ast.FunctionDef | ast.AsyncFunctionDef
# Who names no organization, and why.
EXCEPT = {
    "accounts/api_keys.py: _change": "who changes a key gives the owner, and the operator's commands none",
    "accounts/directory/people.py: unlink_people_of": "accounts end in all organizations",
    "accounts/directory/identities.py: delete_identities_of": "accounts end in all organizations",
    "accounts/users/invitations.py: take_invitation": "who has the token of a mail may use it",
    "driver/deletion.py: delete_in_pieces": "its callers' queries do",
    "clicks/blocks.py: mark_unreadable": "the ids begin with the organization's, whose blocks were read",
    "lifecycle/privacy/personal_changes.py: delete_all": "those who erase give the condition",
    "links/orphans.py: _update": "the id begins with the organization's",
    "sales/refunds.py: _write": "the id begins with the organization's",
    "visitors/records.py: credit_update": "the id begins with the organization's",
    "lifecycle/restores.py: begin_restore": "it asks whether a domain is another organization's",
    "links/reports.py: dismiss_reports": "a command of the operator, for links of all organizations",
    "links/writing/service_changes.py: _change": "the operator's commands hold links of all organizations",
    "reports/recipients.py: unsubscribe_recipient": "who has the token of a mail may use it",
    "webhooks/endpoints.py: _take_back": "those who change an endpoint give the query",
}


def _functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """The functions and methods of a file with their names; those inside are a part of theirs."""
    for node in tree.body:
        for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(inner, Function):
                yield inner.name, inner


def _queries(module: ModuleType, function: Function) -> Iterator[tuple[str, str]]:
    """The method and the text of each query of what may be owned."""
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr=method, value=ast.Subscript(slice=named))):
                pass
            case ast.Call(func=ast.Attribute(attr=method, value=ast.Call(
                func=ast.Attribute(attr="get_collection"), args=[named, *_]
            ))):  # fmt: skip
                pass
            case ast.Call(func=ast.Name(id=method)) if method in BULK_WRITES:  # of any collection
                yield method, ast.unparse(node.args[0])
                continue
            case ast.Call(func=ast.Name(id="delete_in_pieces"), args=[_, named, query]):
                if _value(module, named) not in NOT_OWNED:
                    yield "delete_many", ast.unparse(query)
                continue
            case _:
                continue
        if method in READS | WRITES and _value(module, named) not in NOT_OWNED:
            yield method, " ".join(map(ast.unparse, node.args[: 2 if method == "distinct" else 1]))


def _value(module: ModuleType, named: ast.expr) -> str | None:
    """The name of the collection; None where only a call tells it."""
    match named:
        case ast.Name(id=name):
            found = getattr(module, name, None)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            found = getattr(getattr(module, name, None), attribute, None)
        case ast.Constant(value=found):
            pass
        case _:
            found = None
    return found if isinstance(found, str) else None


def _with_what_it_is_made_of(text: str, function: Function, tree: ast.Module) -> str:
    """The text of a query, with those of the names in it that the function assigns, and of the file's own
    functions that it calls."""
    made: defaultdict[str, str] = defaultdict(str)
    for target, value in _assigned(function):
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                made[name.id] += f" {ast.unparse(value)}"
    for called, its in _functions(tree):
        if its is not function:
            made[called] += f" {ast.unparse(its)}"
    taken: set[str] = set()
    while names := {name for name in made if name not in taken and re.search(rf"\b{name}\b", text)}:
        taken |= names
        text += "".join(made[name] for name in names)
    return text


def _assigned(function: Function) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from ((target, value) for target in targets)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield target, value
            case ast.AugAssign(target=target, value=value):
                yield target, value
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                yield target, value


def _is_given_the_organization(function: Function) -> bool:
    return any(argument.arg == "org_id" for argument in [*function.args.args, *function.args.kwonlyargs])


@cache
def _found() -> set[str]:
    found = set()
    for path in STORAGE.rglob("*.py"):
        source = path.read_text()
        if not any(f"{method}(" in source for method in READS | WRITES | BULK_WRITES | {"delete_in_pieces"}):
            continue
        tree, file = ast.parse(source), path.relative_to(STORAGE).as_posix()
        module = importlib.import_module(f"backend.storage.{file.removesuffix('.py').replace('/', '.')}")
        for name, function in _functions(tree):
            for method, text in _queries(module, function):
                if method in READS and not _is_given_the_organization(function):
                    continue
                if not NAMES_OWNER.search(_with_what_it_is_made_of(text, function, tree)):
                    found.add(f"{file}: {name}")
    return found


def test_each_query_of_what_is_owned_names_the_owner() -> None:
    """Whoever changes what an organization owns, or reads it for an organization, says which one it is. The
    others are in the list, with the reason."""
    assert _found() == EXCEPT.keys()
