"""Modules to one script: every module of the front end can be bundled, and what can't be is refused by name."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from webapp.flamegraph.bundle import UnknownModuleForm, bundle

FRONTEND = Path(__file__).parents[3] / "frontend"
MODULES = sorted(f"js/{path.name}" for path in (FRONTEND / "js").glob("*.js"))


def script_of(files: dict[str, str]) -> str:
    return bundle("js/main.js", files.__getitem__)


def printed(script: str) -> str:
    return subprocess.run(["node", "-"], input=script, capture_output=True, text=True, check=True).stdout.strip()


def test_every_module_of_the_front_end_is_bundled_to_a_script_that_parses() -> None:
    scripts = [bundle(path, lambda name: (FRONTEND / name).read_text()) for path in MODULES]

    program = f'const vm = require("vm"); for (const text of {json.dumps(scripts)}) new vm.Script(text);'
    assert printed(program) == ""


def test_what_a_module_exports_is_what_others_import() -> None:
    files = {
        "js/main.js": 'import { twice, Pair as Two } from "./a.js";\nimport { one } from "../vendor/b.js";\n'
        "console.log(twice(one), new Two().size);\n",
        "js/a.js": 'import {\n  one,\n} from "../vendor/b.js";\nexport const twice = (n) => n * 2 + one - 1;\n'
        "export class Pair {\n  size = 2;\n}\n",
        "vendor/b.js": "var x=1;export{x as one};",
    }

    assert printed(script_of(files)) == "2 2"
    assert script_of(files).count("// vendor/b.js") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('export { x } from "./a.js";', "export { x } from"),
        ("export default 1;", "'export default 1;'"),
        ("export let n = 1;", "'export let n = 1;'"),
        ('import * as a from "./a.js";', "import \\* as a"),
        ('const a = await import("./a.js");', "import\\("),
        ('import "./main.js";', "js/main.js and js/main.js import each other"),
    ],
)
def test_what_it_does_not_know_is_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(UnknownModuleForm, match=words):
        script_of({"js/main.js": text, "js/a.js": ""})
