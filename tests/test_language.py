"""Plain English everywhere: no file contains a phrase that CONTRIBUTING.md refuses, or a path of a machine."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "CONTRIBUTING.md"

#: Papers numbered as in a private list, and folders of the machines that Andante was written on.
LEAKS = [r"\bseeds? 0\d\d\b", r"(?<![\w.])/(?:work|tmp/w)/"]

#: Files whose words are not ours or not for people: generated numbers, licences, recorded results.
EXEMPT = re.compile(
    r"LICENSE(\.txt)?$|package-lock\.json$|numbers\.json$|^docs/replays/|^tests/golden/.*\.txt$|fingerprints\.txt$"
)


def refused_phrases():
    """Return the phrases of the table in CONTRIBUTING.md."""
    table = GUIDE.read_text().partition("<!-- phrases that the test refuses -->")[2].partition("<!-- end")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("|")]
    return [phrase for row in rows for phrase in re.findall(r"`([^`]+)`", row)]


def pattern():
    """Return a pattern for all phrases, also where a phrase is split between two lines of a comment."""
    words = [r"[\s#*]+".join(map(re.escape, phrase.split())) for phrase in refused_phrases()]
    return re.compile("|".join([rf"\b(?:{'|'.join(words)})\b", *LEAKS]), re.IGNORECASE)


def tracked_texts():
    """Yield the name and the text of every text file of the repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a clone of the repository")
    for name in listed.stdout.decode().split("\0"):
        file = ROOT / name
        if name and file.is_file() and not EXEMPT.search(name):
            content = file.read_bytes()
            if b"\0" not in content[:8192]:
                yield name, content.decode("utf-8", "replace")


def without_guide(name, text):
    """Return the text without the table of phrases, if it is the guide's; line numbers stay."""
    if ROOT / name != GUIDE:
        return text
    before, _, rest = text.partition("## Language")
    inside, _, after = rest.partition("<!-- end")
    return before + "\n" * inside.count("\n") + after


def test_the_table_lists_phrases():
    assert len(refused_phrases()) > 30


def test_no_file_contains_a_refused_phrase():
    refused, found = pattern(), []
    for name, content in tracked_texts():
        text = without_guide(name, content)
        for match in refused.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{name}:{line}: {' '.join(match.group().split())!r}")
    assert not found, f"{len(found)} phrases to rewrite, see 'Language' in CONTRIBUTING.md:\n" + "\n".join(found)
