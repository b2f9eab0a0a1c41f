"""Runs the SDK's checks of arguments as they are shipped: as JavaScript, in one process of Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdk_build.build import compile_module, shorten
from sdk_build.node import node_environment

PAGE = "https://shop.example/kites?size=9"
# Answers each line, which holds arguments as JavaScript writes them, with a line of JSON.
_MAIN = """
import { createInterface } from 'readline';
import { FIELDS, PATTERNS } from './call_rules.js';
import { OPTION_PATTERNS, OPTIONS, validate } from './checks.js';

let said = [];
console.warn = (...words) => said.push(words);
const read = (text) => (0, eval)('(' + text + ')');
for await (const line of createInterface({ input: process.stdin })) {
  const { kind, given, name } = JSON.parse(line);
  const answer = {};
  const [fields, event] = [read(given), read(name)];
  answer.sent = JSON.stringify(event == null ? fields : { ...fields, name: event });
  try {
    const taken = kind
      ? validate(fields, FIELDS[kind], PATTERNS, event == null ? null : { name: event })
      : validate(fields, OPTIONS, OPTION_PATTERNS);
    answer.taken = JSON.stringify(taken);
  } catch (error) {
    answer.wrong = error.name + ' ' + error.message;
  }
  await new Promise(setImmediate);
  answer.said = said.splice(0);
  process.stdout.write(JSON.stringify(answer) + '\\n');
}
"""


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of arguments: what was taken of them, or the name of the first that was wrong.

    `wrong_value` is that value as the error writes it. `sent` is the JSON of the arguments themselves,
    `taken` that of what the SDK sends of them; `said` is what the console was told, each time as its words.
    """

    sent: str
    taken: str
    wrong: str | None
    said: list[list[Any]]
    wrong_value: str = ""


class CompiledChecks:
    """The SDK's `validate`, for the fields of a call or for the options of `init`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def call(self, kind: str, given: Any, name: Any = None) -> Checked:
        """Check the arguments of a call; `name` is the first one of trackEvent."""
        return self._ask({"kind": kind, "given": json.dumps(given), "name": json.dumps(name)})

    def options(self, given: Any) -> Checked:
        """Check the options of `init`."""
        return self._ask({"given": json.dumps(given), "name": "null"})

    def _ask(self, question: dict[str, str]) -> Checked:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "Node.js has ended"
        answer = json.loads(line)
        wrong = answer.get("wrong")
        assert wrong is None or wrong.startswith("TypeError Waylink: "), wrong
        name, _, value = wrong.removeprefix("TypeError Waylink: ").partition(" ") if wrong else (None, "", "")
        return Checked(answer["sent"], answer.get("taken", ""), name, answer["said"], value)


@contextmanager
def compiled_checks() -> Iterator[CompiledChecks]:
    """The checks, compiled now, until the context ends."""
    with tempfile.TemporaryDirectory() as folder:
        compiled = compile_module("checks", Path(folder))
        for script in compiled.glob("*.js"):
            shorten(script, "esm")
        (compiled / "package.json").write_text('{"type": "module"}')
        (compiled / "address.js").write_text(f"export var address = {{ href: '{PAGE}' }};")
        (compiled / "main.js").write_text(_MAIN)
        node = shutil.which("node", path=node_environment()["PATH"])
        assert node
        command = [node, str(compiled / "main.js")]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        ) as process:
            yield CompiledChecks(process)
            assert process.stdin
            process.stdin.close()
