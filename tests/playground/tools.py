"""What tests of the playground need: Node, its packages, a browser, and the page."""

import shutil
from pathlib import Path

import pytest

PLAYGROUND = Path(__file__).parents[2] / "playground"
NODE = shutil.which("node")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PACKAGES = PLAYGROUND / "node_modules"

needs_node_modules = pytest.mark.skipif(
    NODE is None or not PACKAGES.is_dir(), reason="needs Node.js and the playground's packages (make playground)"
)
