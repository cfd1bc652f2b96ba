"""The page makes and reads maps by the same rules as Python, with the same error messages."""

import base64
import json
import os
import random
import subprocess

import numpy as np
import pytest

import andante
from andante.errors import MapError
from andante.world.mapfiles import parse_map
from tests.playground.tools import NODE, PLAYGROUND, needs_node_modules

RECIPES = [
    ("rooms", 64, 48, 7, {}),
    ("rooms", 33, 70, 8, {"size": 9, "door_width": 3, "door_share": 0.9}),
    ("maze", 41, 41, 2, {}),
    ("maze", 60, 30, 3, {"corridor": 3, "loops": 0.25}),
    ("random", 40, 25, 11, {}),
    ("random", 64, 64, 4294967295, {"density": 0.37}),
    ("empty", 9, 8, 0, {}),
    ("caves", 96, 72, 3, {}),
    ("caves", 120, 50, 5, {"rock": 0.53, "scale": 1}),
    ("caves", 77, 130, 6, {"rock": 0.45, "scale": 7}),
    ("caves", 256, 256, 1, {"rock": 0.55}),
]

GOOD = b"type octile\nheight 2\nwidth 3\nmap\n..@\n.T.\n"
FILES = [
    GOOD,
    GOOD[:-1],
    GOOD.replace(b"\n", b"\r\n"),
    GOOD + b"\n\n  \n",
    b"",
    b"hello",
    b"type octile\n",
    b"type  octile \nheight\t2\nwidth 3\nmap \n..@\n.T.\n",
    b"type tile\nheight 2\nwidth 3\nmap\n..@\n.T.\n",
    b"type octile\nheight two\nwidth 3\nmap\n..@\n.T.\n",
    b"type octile\nheight 0\nwidth 3\nmap\n",
    b"type octile\nheight 99999999999\nwidth 3\nmap\n",
    b"type octile\nheight 32000\nwidth 32000\nmap\n",
    b"type octile\nheight 32001\nwidth 3\nmap\n",
    b"type octile\nwidth 3\nheight 2\nmap\n..@\n.T.\n",
    b"type octile\nheight 2\nwidth 3\nmap of it\n..@\n.T.\n",
    b"type octile\nheight 2\nwidth 3\nmap",
    b"type octile\nheight 2\nwidth 3\nmap\n..@\n",
    b"type octile\nheight 2\nwidth 3\nmap\n..@\n.T.\n...\n",
    b"type octile\nheight 2\nwidth 3\nmap\n..@.\n.T.\n",
    b"type octile\nheight 2\nwidth 3\nmap\n..\n.T..\n",
    b"type octile\nheight 2\nwidth 3\nmap\n.x@\n.T.\n",
    b"type octile\nheight 2\nwidth 3\nmap\n.'@\n.T.\n",
    "type octile\nheight 2\nwidth 4\nmap\n.ü@\n.T..\n".encode(),
    b"type octile\nheight 2\nwidth 3\nmap\n.\xff@\n.T.\n",
    b"type octile\nheight 2\nwidth 3\nmap\n.\x00@\n.T.\n",
    b"type octile\nheight 1\nwidth 1\nmap\n." + b"\n" * 500,
    b"type " + b"x" * 300 + b"\n",
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
]


def mangled(count):
    """Yield files with a few bytes changed, removed or added."""
    rng = random.Random(1)
    for _ in range(count):
        data = bytearray(GOOD)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(data))
            data[at : at + rng.randint(0, 2)] = bytes(
                rng.choice(b"\n\r .@Tx0139\t\xc3\x1c'\"\\") for _ in range(rng.randint(0, 2))
            )
        yield bytes(data)


def outcome(data):
    try:
        return {"error": None, "terrain": parse_map(data, "some", where="some.map").terrain.tobytes().decode("latin1")}
    except MapError as error:
        return {"error": str(error), "terrain": ""}


def generated(kind, width, height, seed, options):
    grid = andante.generate(kind, width, height, seed=seed, **options)
    recipe = {"kind": kind, "width": width, "height": height, "seed": seed, "options": options}
    return {"recipe": recipe, "name": grid.name, "terrain": grid.terrain.tobytes().decode("latin1")}


@pytest.mark.full
@needs_node_modules
def test_maps_are_those_of_python(tmp_path):
    seeds = [0, 1, 7, 2**32 - 1, 2**32, 2**40 + 12345]
    cases = {
        "seeds": [(seed, np.random.SeedSequence(seed).generate_state(8).tolist()) for seed in seeds],
        "generated": [generated(*recipe) for recipe in RECIPES],
        "files": [{"bytes": base64.b64encode(data).decode(), **outcome(data)} for data in [*FILES, *mangled(400)]],
    }
    assert sum(case["error"] is None for case in cases["files"]) > 10
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    command = [NODE, "node_modules/vitest/vitest.mjs", "run", "tests/rules.test.ts"]
    environment = {**os.environ, "ANDANTE_CASES": str(tmp_path / "cases.json"), "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=PLAYGROUND, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
