"""What the SDK's build gives."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from backend.version import VERSION
from sdk_build.build import (
    COMMONJS,
    PRIVATE_NAMES,
    ROOT,
    SENTENCES,
    SHORTER_EXPRESSIONS,
    SOURCE,
    TARGETS,
    build,
    shorten,
)
from sdk_build.compressed import SERVED
from sdk_build.node import run_node
from sdk_build.npm_archive import archive_name, packed
from sdk_build.undeclared_names import StockRuntimeNeeded, refuse_undeclared_names, undeclared_names

DIST = ROOT / "sdk_dist"
# Prints which places of the sources some texts of a built file come from, in a list.
PLACES_OF = """
const { TraceMap, originalPositionFor } = require('@jridgewell/trace-mapping');
const { readFileSync } = require('fs');
const [file, ...texts] = process.argv.slice(1);
const map = new TraceMap(readFileSync(file + '.map', 'utf8'));
const place_of = (text) => {
  const before = readFileSync(file, 'utf8').split(text)[0].split('\\n');
  return originalPositionFor(map, { line: before.length, column: before.at(-1).length - 1 });
};
console.log(JSON.stringify(texts.map(place_of)));
"""
# Unpacks files, and prints of each the SHA-256 of what was in it, a line each.
UNPACKED = """
const zlib = require('zlib');
for (const file of process.argv.slice(1)) {
  const unpack = file.endsWith('.br') ? zlib.brotliDecompressSync : zlib.gunzipSync;
  const unpacked = unpack(require('fs').readFileSync(file));
  console.log(require('crypto').createHash('sha256').update(unpacked).digest('hex'));
}
"""
# Lays a script out in the order that is asked for. It prints what the script finds, and where `two` stands.
LAID_OUT = """
const { laidOut, parsed } = require('./layout.js');
const [order, letters] = process.argv.slice(1);
const script = '(()=>{var one,late=()=>two()+one,two=()=>2,six=(one=1,late())*2;globalThis.found=six})()';
laidOut(parsed(script), { order: order.split(' '), letters }, {}).then(({ code }) => {
  (0, eval)(code);
  console.log(found, code.indexOf('=>2'));
});
"""
COMPRESSED = [f"{name}{ending}" for name in SERVED for ending in (".br", ".gz")]
SCRIPTS = [name for target in TARGETS for name in (target, f"{target}.map")]
BUILT = [*SCRIPTS, COMMONJS, SENTENCES, "LICENSE", *COMPRESSED]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh build of sdk_src/."""
    destination = tmp_path_factory.mktemp("sdk")
    build(destination)
    return destination


@pytest.mark.parametrize("name", BUILT)
def test_sdk_dist_is_what_the_sources_give(built: Path, name: str) -> None:
    """The committed file equals a fresh build of sdk_src/, byte for byte (else: `make sdk`)."""
    assert (DIST / name).read_bytes() == (built / name).read_bytes()


@pytest.mark.parametrize("target", TARGETS)
def test_source_maps_lead_to_the_python(target: str) -> None:
    """The source map names files of sdk_src/, and carries their text."""
    content = json.loads((DIST / f"{target}.map").read_text())
    assert "../sdk_src/waylink.py" in content["sources"]
    for source, text in zip(content["sources"], content["sourcesContent"], strict=True):
        assert text == (DIST / source).read_text()


@pytest.mark.parametrize("target", TARGETS)
def test_places_in_the_script_are_lines_of_python(target: str) -> None:
    """Where developer tools show a text of the built file, the source map leads to its line in sdk_src/."""
    modules = {"SHA-256": "hashing", "currentScript": "page"}
    places = json.loads(run_node("node", "-e", PLACES_OF, str(DIST / target), *modules))
    for text, found in zip(modules, places, strict=True):
        assert found["source"] == f"../sdk_src/{modules[text]}.py"
        assert text in (DIST / found["source"]).read_text().splitlines()[found["line"] - 1]


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_of_the_stock_runtime_is_left(target: str) -> None:
    """No name of Transcrypt's own runtime reaches a page."""
    script = (DIST / target).read_text()
    assert not [
        name
        for name in ("py_", "js_", "__class__", "__kwargtrans__", "__in__", "__envir__")
        if name in script
    ]


def test_a_commonjs_module_has_the_same_types() -> None:
    """TypeScript looks for them under another name (else: `make sdk`)."""
    assert (DIST / "index.d.cts").read_text() == (DIST / "index.d.ts").read_text()


def test_compressed_files_hold_what_they_stand_for() -> None:
    """Unpacked, each compressed file is the file beside it, and it is the smaller one."""
    files = [DIST / name for name in COMPRESSED]
    unpacked = run_node("node", "-e", UNPACKED, *map(str, files)).splitlines()
    originals = [file.with_suffix("").read_bytes() for file in files]
    assert unpacked == [hashlib.sha256(original).hexdigest() for original in originals]
    for file, original in zip(files, originals, strict=True):
        assert file.stat().st_size < len(original), file.name


def test_the_npm_archive_is_what_the_package_gives() -> None:
    """The committed archive equals one packed now from sdk_dist/, byte for byte (else: `make sdk`)."""
    assert (DIST / archive_name(DIST)).read_bytes() == packed(DIST)


def test_the_readme_names_the_scripts_hash() -> None:
    """The script tag in the package's README carries the hash of the very file beside it."""
    digest = base64.b64encode(hashlib.sha384((DIST / "waylink.js").read_bytes()).digest()).decode()
    assert f'integrity="sha384-{digest}"' in (DIST / "README.md").read_text()


def test_the_sdk_has_waylinks_version() -> None:
    """The script tells it to the service, the package has it, and the docs name the archive with it."""
    assert f'"js/{VERSION}"' in (DIST / "waylink.js").read_text()
    assert archive_name(DIST) == f"waylink-{VERSION}.tgz"
    for text in (DIST / "README.md", ROOT / "docs" / "sdk.md"):
        assert set(re.findall(r"waylink-[\d.]+tgz", text.read_text())) == {archive_name(DIST)}


@pytest.mark.parametrize(
    ("order", "letters"), [("six two late one", "abc"), ("late two six", "cab"), ("two", "bca")]
)
def test_a_layout_changes_no_result(order: str, letters: str) -> None:
    """What runs as the script loads comes after all that it uses, wherever the layout wants it."""
    found, *_ = run_node("node", "-e", LAID_OUT, order, letters).split()
    assert found == "6"


def test_a_layout_is_followed() -> None:
    """A function stands where the layout wants it."""
    orders = ("two late six", "late two six")
    first, second = (int(run_node("node", "-e", LAID_OUT, order, "abc").split()[1]) for order in orders)
    assert first < second


def test_expressions_get_their_short_form(tmp_path: Path) -> None:
    """An expression that the build has a shorter one for, and `a && a.b`."""
    script = tmp_path / "outbox.js"
    script.write_text(
        "export var secure = address.protocol == 'https:';\nexport var first = list [0] && list [0].name;\n"
    )
    shorten(script, "esm")
    text = script.read_text()
    assert "secure = address.href [4] == 's';" in text
    assert "first = list [0]?.name;" in text


def test_what_the_build_shortens_is_in_the_sources() -> None:
    """What the build has a short form of is still there, by the name that it looks for."""
    sources = "".join(path.read_text() for path in SOURCE.glob("*.py"))
    assert all(expression in sources for expression in SHORTER_EXPRESSIONS)
    assert all(re.search(rf"\b{name}\b", sources) for name in PRIVATE_NAMES)


def test_output_that_needs_the_stock_runtime_is_refused(tmp_path: Path) -> None:
    """The build stops at a name that neither the module nor a browser declares, and says which."""
    (tmp_path / "lengths.js").write_text("var f = function (x) {\n\treturn len (x);\n};\n")
    with pytest.raises(StockRuntimeNeeded, match=r"lengths\.py needs Transcrypt's own runtime for: len"):
        refuse_undeclared_names(tmp_path)


def test_declared_names_pass() -> None:
    """Parameters, variables, imports, caught errors and the browser's names are known; texts don't count."""
    script = (
        "import {read} from './signals.js';\n"
        "for (var [c, d] of a) {\n\tc (d);\n}\n"
        "export var go = async function (a, b) {\n\ttry {\n\t\tawait fetch (read (a.len), 'len');\n\t}\n"
        "\tcatch (__except0__) {\n\t\tvar c = __except0__ || b;\n\t}\n\treturn c; // len\n};\n"
    )
    assert undeclared_names(script) == []
