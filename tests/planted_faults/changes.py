"""Single changes to a statement of Python, each of which is a fault that somebody may well make."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
}
# In texts, which are SQL or MongoDB's operators: a bound that moves, and a condition that turns.
_WORDS = {
    " >= ": " > ",
    " <= ": " < ",
    " < ": " <= ",
    " > ": " >= ",
    " AND ": " OR ",
    "IS NOT NULL": "IS NULL",
    " ASC": " DESC",
    " DESC": " ASC",
    "$lt": "$lte",
    "$lte": "$lt",
    "$gte": "$gt",
    "$gt": "$gte",
    "$set": "$setOnInsert",
    "$max": "$min",
}
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}


def changed(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statement with each of the changes to one of its own nodes; not to statements within it."""
    for place, node in enumerate(_own_nodes(statement)):
        for number in range(_count(node)):
            other = copy.deepcopy(statement)
            _apply(_own_nodes(other)[place], number)
            yield other
    if isinstance(statement, ast.Expr) and _is_call(statement.value):
        yield ast.Pass()
    if isinstance(statement, ast.Break):
        yield ast.Continue()


def _own_nodes(statement: ast.stmt) -> list[ast.AST]:
    """The nodes of a statement's own expressions, in a fixed order. A text that stands alone is no code."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return []
    found: list[ast.AST] = []
    waiting = [child for child in ast.iter_child_nodes(statement) if _is_own(child)]
    while waiting:
        node = waiting.pop(0)
        found.append(node)
        waiting.extend(child for child in ast.iter_child_nodes(node) if _is_own(child))
    return found


def _is_own(node: ast.AST) -> bool:
    return not isinstance(node, (ast.stmt, ast.ExceptHandler, ast.arguments, ast.match_case, ast.JoinedStr))


def _is_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) or (isinstance(node, ast.Await) and isinstance(node.value, ast.Call))


def _count(node: ast.AST) -> int:  # noqa: PLR0911 - one for each kind of node
    """How many changes there are to this node alone."""
    match node:
        case ast.Compare(ops=[operator]):
            return int(type(operator) in _COMPARED)
        case ast.BinOp(op=operator):
            is_text = any(isinstance(side, ast.Constant) for side in (node.left, node.right))
            return int(type(operator) in _COMPUTED and not (is_text and _has_text(node)))
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return 1
        case ast.Constant(value=bool() | int()):
            return 1
        case ast.Constant(value=str(text)):
            return len(_found_words(text))
        case ast.Call(func=ast.Name(id=name)):
            return int(name in _CALLED) + len(_options(node))
        case ast.Call():
            return len(_options(node))
        case ast.Dict(keys=keys):
            return len(keys) if all(isinstance(key, ast.Constant) for key in keys) else 0
        case ast.IfExp():
            return 1
    return 0


def _options(call: ast.Call) -> list[ast.keyword]:
    """What may be left out. Of `strict`, no test is expected to tell."""
    return [keyword for keyword in call.keywords if keyword.arg not in {None, "strict"}]


def _has_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides)


def _found_words(text: str) -> list[str]:
    return [word for word in _WORDS if re.search(re.escape(word) + r"(?![\w=])", text)]


def _apply(node: ast.AST, number: int) -> None:
    """Make the change with this number to the node."""
    match node:
        case ast.Compare(ops=[operator]):
            node.ops = [_COMPARED[type(operator)]()]
        case ast.BinOp(op=operator):
            node.op = _COMPUTED[type(operator)]()
        case ast.BoolOp(op=operator):
            node.op = ast.And() if isinstance(operator, ast.Or) else ast.Or()
        case ast.UnaryOp():
            node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value)):
            node.value = value + 1
        case ast.Constant(value=str(text)):
            word = _found_words(text)[number]
            node.value = re.sub(re.escape(word) + r"(?![\w=])", lambda _: _WORDS[word], text, count=1)
        case ast.Call(func=ast.Name(id=name)) if name in _CALLED and number == len(_options(node)):
            node.func = ast.Name(_CALLED[name], ast.Load())
        case ast.Call():
            node.keywords.remove(_options(node)[number])
        case ast.Dict():
            del node.keys[number], node.values[number]
        case ast.IfExp():
            node.body, node.orelse = node.orelse, node.body
