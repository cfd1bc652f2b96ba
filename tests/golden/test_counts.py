"""The golden counts are unchanged."""

import pytest

from tests.golden.counts import compute, confirm, grid_of, read

ROWS = read()
IDS = [f"{q.map}-{q.start}-{q.goal}-{q.algorithm}".replace(" ", "") for q, _ in ROWS]


def test_every_row_has_an_answer_and_is_unique():
    assert [question for question, answer in ROWS if answer is None] == [], "run: python -m tests.golden"
    assert len({question for question, _ in ROWS}) == len(ROWS) > 50


@pytest.mark.parametrize(("question", "answer"), ROWS, ids=IDS)
def test_counts(question, answer):
    assert grid_of(question.map).fingerprint[:8] == answer.fingerprint, "the map has changed"
    assert compute(question) == answer


@pytest.mark.compiled  # the twins are always plain Python, so once is enough
@pytest.mark.parametrize(("question", "answer"), ROWS, ids=IDS)
def test_counts_are_confirmed(question, answer):
    confirm(question, answer)
