"""Build the wheel, install it into clean environments, and run the examples of the README there.

``python tools/check_wheel.py`` does this with this Python and the newest versions of the dependencies.
``python tools/check_wheel.py --oldest`` installs the oldest versions that `pyproject.toml` allows, and
``--python PATH`` uses another Python. CI and the release checklist call it.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLAYGROUND = ("page.html", "engine.bin")
NEEDED = ("py.typed", "settings.pyi", "studies/tba/study.toml", "export/templates/")
PICTURES = re.compile(r" --(?:picture|html) \S+")
VERBS = ("algorithms", "maps show", "solve", "maps scene")  # of the README's commands, those that take seconds


def build(folder: Path) -> Path:
    """Build the wheel and return it."""
    call([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", str(folder), str(ROOT)])
    (wheel,) = folder.glob("andante-*.whl")
    return wheel


def check_contents(wheel: Path) -> None:
    """Stop if a file is missing from the wheel, or if it contains one that does not belong there."""
    names = zipfile.ZipFile(wheel).namelist()
    missing = [name for name in NEEDED if not any(one.startswith(f"andante/{name}") for one in names)]
    made = [name for name in PLAYGROUND if (ROOT / "src/andante/play/static" / name).exists()]
    missing += [name for name in made if f"andante/play/static/{name}" not in names]
    strange = [
        name for name in names if name.split("/")[0] not in ("andante", f"{wheel.stem.split('-py3')[0]}.dist-info")
    ]
    if missing or strange:
        raise SystemExit(f"{wheel.name}: missing {missing}, unexpected {strange}")
    playground = "with the playground" if made else "without the playground, which is not built here"
    print(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size / 1e6:.1f} MB, {playground}")


def oldest() -> list[str]:
    """Return the oldest allowed release series of every dependency: `numpy>=2.0` becomes `numpy==2.0.*`."""
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    return [re.sub(r">=([\d.]+)", r"==\1.*", need) for need in needs]


def install(wheel: Path, python: str, folder: Path, pins: Sequence[str]) -> Path:
    """Install the wheel into a new environment, and return the Python there."""
    call([python, "-m", "venv", str(folder)])
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    call([str(inside), "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel), *pins])
    return inside


def shown_in_readme() -> Iterator[list[str]]:
    """Yield the examples of the README as arguments for Python: the program, then the commands that take seconds."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    yield ["-c", program]
    unseen = set(VERBS)
    for line in re.findall(r"^andante .*$", text, re.MULTILINE):
        words = shlex.split(PICTURES.sub("", line), comments=True)  # pictures need the extra `report`
        verb = next((verb for verb in VERBS if " ".join(words[1:]).startswith(verb)), None)
        if verb is not None:
            unseen.discard(verb)
            yield ["-m", *words]
    if unseen:
        raise SystemExit(f"the README shows no command that begins with {' or '.join(sorted(unseen))}")


def check(python: Path, folder: Path) -> None:
    """Run the examples of the README with this Python, in an empty folder."""
    folder.mkdir()
    versions = (
        "import sys, andante, numba, numpy, scipy; "
        "print(f'Python {sys.version.split()[0]}, andante {andante.__version__}, numba {numba.__version__}, '"
        "f'numpy {numpy.__version__}, scipy {scipy.__version__}')"
    )
    call([str(python), "-c", versions], folder)
    for arguments in shown_in_readme():
        began = time.monotonic()
        call([str(python), *arguments], folder, quiet=True)
        what = "the program" if arguments[0] == "-c" else " ".join(arguments[1:])
        print(f"  {time.monotonic() - began:5.1f} s  {what}", flush=True)


def call(command: Sequence[str], folder: Path | None = None, *, quiet: bool = False) -> None:
    """Run a command outside the source tree; stop with its output if it fails."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "ANDANTE_AGENTS")}
    done = subprocess.run(
        command, cwd=folder, env=clean, capture_output=quiet, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise SystemExit(f"failed: {shlex.join(command)[:200]}\n{done.stdout or ''}{done.stderr or ''}")


def main() -> None:
    """Check the wheel with every Python that is named."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", action="append", help="a Python to check with; may be repeated (default: this one)")
    parser.add_argument("--oldest", action="store_true", help="install the oldest dependencies that are allowed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        wheel = build(Path(place))
        check_contents(wheel)
        for number, python in enumerate(options.python or [sys.executable]):
            inside = install(wheel, python, Path(place, f"clean-{number}"), oldest() if options.oldest else [])
            check(inside, Path(place, f"work-{number}"))


if __name__ == "__main__":
    main()
