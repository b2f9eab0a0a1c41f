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
# Where code may give a text a name that promises an id, or ask whether an organization's id is true: only
# such files are worth parsing.
TEXT = re.compile(r"_ids?\s*:[^=]*?\bstr\b")
ASKED = re.compile(
    r"\b(?:(?:if|while|assert|not|and|or|bool)\b[\w.\s()\[\]]*?|\)\.\w*)org_id\b(?!\s*(?:[!<>=]|is\b|in\b|[.\[(]))"
    r"|org_id[\s)]+(?:and|or)\b"
)


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


def typed_names(source: str) -> list[tuple[str, str]]:
    """The parameters, fields and variables of some code that promise an id and have a type, with that."""
    nodes = list(ast.walk(ast.parse(source)))
    named = [(node.arg, node.annotation) for node in nodes if isinstance(node, ast.arg)]
    named += [
        (ast.unparse(node.target), node.annotation) for node in nodes if isinstance(node, ast.AnnAssign)
    ]
    return [(name, ast.unparse(of)) for name, of in named if of and kind_of_id(name)]


def kind_of_id(name: str) -> str | None:
    """The type of id that a name promises, such as LinkId for `own_link_id` and `link_ids`, if any."""
    promised = re.search(r"([a-z]+)_ids?$", name)
    kind = f"{promised[1].title()}Id" if promised else ""
    return kind if isinstance(vars(ids).get(kind), NewType) else None


def plain_ids(source: str) -> list[str]:
    """What is named as an id in some code, but is a text by its type."""
    if not TEXT.search(source):
        return []
    return [
        f"{name}: {of}"
        for name, of in typed_names(source)
        if re.search(r"\bstr\b", of) and str(kind_of_id(name)) not in of
    ]


def test_what_is_named_as_an_id_has_its_type() -> None:
    """No plain text is named as a link's id, an organization's or another that has a type: a text that was
    only given has another name until it is checked."""
    wrong = "class A:\n    own_link_id: str\n\ndef f(org_ids: dict[\n    int, str\n]): pass"
    assert plain_ids(wrong) == ["org_ids: dict[int, str]", "own_link_id: str"]
    right = "def f(given: str, link_id: LinkId, device_ids: dict[str, DeviceId], page_id: str): pass"
    assert plain_ids(right) == []
    found = {file.relative_to(BACKEND): plain_ids(file.read_text()) for file in BACKEND.rglob("*.py")}
    assert {file: plain for file, plain in found.items() if plain} == {}


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


def asked_ids(source: str) -> list[str]:
    """Where some code asks whether an organization's id is true."""
    if not ASKED.search(source):
        return []
    return [
        f"{condition.lineno}: {ast.unparse(condition)}"
        for node in ast.walk(ast.parse(source))
        for condition in conditions(node)
        if isinstance(condition, ast.Name | ast.Attribute) and ast.unparse(condition).endswith("org_id")
    ]


def test_an_empty_organization_is_not_all_of_them() -> None:
    """Nothing asks whether an organization's id is true: where None means all, an empty text would too."""
    ways = (
        "if org_id: pass",
        "x = [a for a in b\n if (\n  a.org_id\n)]",
        "x = own_org_id or y",
        "not f().org_id",
    )
    assert [len(asked_ids(way)) for way in ways] == [1] * len(ways)
    assert asked_ids("if org_id is None: pass") == []
    found = {file.relative_to(BACKEND): asked_ids(file.read_text()) for file in BACKEND.rglob("*.py")}
    assert {file: asked for file, asked in found.items() if asked} == {}
