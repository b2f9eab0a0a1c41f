"""What names stand for."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import NewType

from backend.domain import ids

BACKEND = Path(__file__).parents[2] / "backend"
# Where a line begins with it, as `ruff format` has it; names with an underscore are a file's own.
CLASS = re.compile(r"^class ([^\W_]\w*)", re.MULTILINE)
# Such as `Rows = list[Row]`, also over some lines; names in capitals are constants.
ALIAS = re.compile(r"^([A-Z]\w*[a-z]\w*)(?:: TypeAlias)? = (.*(?:\n[ )\]}].*)*)", re.MULTILINE)


def meanings() -> dict[str, set[str]]:
    """What each name stands for: a class for itself, another type for what it is made of."""
    found = defaultdict(set)
    for file in BACKEND.rglob("*.py"):
        text = file.read_text()
        for name in CLASS.findall(text):
            found[name].add(f"the class of {file.relative_to(BACKEND)}")
        for name, made_of in ALIAS.findall(text):
            if not (name.endswith("T") and made_of.startswith("TypeVar(")):  # a placeholder, by its ending
                found[name].add(made_of)
    return found


def test_a_name_has_one_meaning() -> None:
    """No two files give one name to different types: who reads it need not ask which one is meant."""
    found = meanings()
    assert found["Settings"] == {"the class of settings.py"}
    assert found["CourseRow"] == {"tuple[str, list[int]]"}
    assert {name: made_of for name, made_of in found.items() if len(made_of) > 1} == {}


def typed_names(file: Path) -> list[tuple[str, str]]:
    """The parameters, fields and variables of a file that have a type, each with that."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    named = [(node.arg, node.annotation) for node in nodes if isinstance(node, ast.arg)]
    named += [
        (ast.unparse(node.target), node.annotation) for node in nodes if isinstance(node, ast.AnnAssign)
    ]
    return [(name, ast.unparse(of)) for name, of in named if of]


def kind_of_id(name: str) -> str | None:
    """The type of id that a name promises, such as LinkId for `own_link_id` and `link_ids`, if any."""
    promised = re.search(r"([a-z]+)_ids?$", name)
    kind = f"{promised[1].title()}Id" if promised else ""
    return kind if isinstance(vars(ids).get(kind), NewType) else None


def test_what_is_named_as_an_id_has_its_type() -> None:
    """No plain text is named as a link's id, an organization's or another that has a type: a text that was
    only given has another name until it is checked."""
    typed = [(file, *typed_name) for file in BACKEND.rglob("*.py") for typed_name in typed_names(file)]
    promised = [(*typed_name, kind) for typed_name in typed if (kind := kind_of_id(typed_name[1]))]
    assert {kind for *_, kind in promised} >= {"OrgId", "LinkId", "DeviceId", "CustomerId", "CallId"}
    plain = [
        f"{file.relative_to(BACKEND)}: {name}: {of}"
        for file, name, of, kind in promised
        if re.search(r"\bstr\b", of) and kind not in of
    ]
    assert plain == []


def conditions(node: ast.AST) -> list[ast.expr]:
    """What a node asks whether it is true."""
    match node:
        case ast.If() | ast.IfExp() | ast.While() | ast.Assert():
            return [node.test]
        case ast.UnaryOp(op=ast.Not(), operand=one) | ast.match_case(guard=ast.expr() as one):
            return [one]
        case ast.BoolOp(values=some) | ast.comprehension(ifs=some) | ast.Call(ast.Name("bool"), some):
            return some
    return []


def test_an_empty_organization_is_not_all_of_them() -> None:
    """Nothing asks whether an organization's id is true: where None means all, an empty text would too."""
    asked = [
        f"{file.relative_to(BACKEND)}:{condition.lineno}: {ast.unparse(condition)}"
        for file in BACKEND.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for condition in conditions(node)
        if isinstance(condition, ast.Name | ast.Attribute) and ast.unparse(condition).endswith("org_id")
    ]
    assert asked == []
