"""`python -m sdk_build.find_layout`: looks for a smaller layout of waylink.js, and writes it to layout.json.

Run it after changes that made the script larger, and `make sdk` after it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from sdk_build.build import FORMS, MINIFIED, TARGETS, TERSER, compile_module, run_esbuild, shortened
from sdk_build.node import install_packages, run_node


def main() -> None:
    """Search for so many seconds, and print the size before and after."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--seconds", type=int, default=600)
    options.add_argument("--seed", type=int, default=1, help="of the random numbers")
    arguments = options.parse_args()
    install_packages()
    module, form = TARGETS["waylink.js"]
    with tempfile.TemporaryDirectory() as folder:
        scripts = shortened(compile_module(module, Path(folder)), form)
        bundled = scripts / "bundled.js"
        run_esbuild(scripts / f"{module}.js", bundled, form, MINIFIED)
        settings = json.dumps(TERSER | FORMS[form])
        numbers = (str(arguments.seconds), str(arguments.seed))
        print(run_node("node", "find_layout.js", str(bundled), settings, *numbers), end="")


if __name__ == "__main__":
    main()
