"""Export to ASlib, the benchmark library of algorithm selection, as a folder that its tools read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence

import numpy as np

from andante.files import make_folder, write_whole
from andante.selection.matrix import Instance, Matrix, MatrixError, Values

FOLDS = 10


def export(
    matrix: Matrix, features: Values, feature_names: Sequence[str], folder: str | os.PathLike[str], *, seed: int = 0
) -> None:
    """Write a scenario: description.txt, algorithm_runs.arff, feature_values.arff, feature_runstatus.arff, cv.arff.

    Folds contain whole maps, so that a selector is judged on maps that it was not trained on.
    """
    if features.shape != (len(matrix.instances), len(feature_names)):
        raise MatrixError(f"features of shape {features.shape} do not fit {len(matrix.instances)} instances")
    home = make_folder(folder)
    names = [instance_name(one) for one in matrix.instances]
    files = {
        "description.txt": _description(matrix, feature_names),
        "algorithm_runs.arff": _runs(matrix, names),
        "feature_values.arff": _features(features, feature_names, names),
        "feature_runstatus.arff": _arff(
            "FEATURE_RUNSTATUS",
            [*_KEY, ("all", "{ok, timeout, memout, presolved, crash, other}")],
            ([name, 1, "ok"] for name in names),
        ),
        "cv.arff": _arff(
            "CV_INSTANCES",
            [*_KEY, ("fold", "NUMERIC")],
            ([name, 1, fold] for name, fold in zip(names, folds(matrix, seed), strict=True)),
        ),
    }
    for name, text in files.items():
        write_whole(home / name, text.encode())


_KEY = [("instance_id", "STRING"), ("repetition", "NUMERIC")]


def instance_name(one: Instance) -> str:
    """Return a name for an instance.

    >>> instance_name(Instance("arena", "a3f0", 12, 40))
    'arena/12/40'
    """
    return one.map if one.start is None else f"{one.map}/{one.start}/{one.goal}"


def folds(matrix: Matrix, seed: int) -> list[int]:
    """Return a fold for each instance, numbered from 1; all instances of a map are in the same fold."""
    maps = list(dict.fromkeys(one.fingerprint for one in matrix.instances))
    order = np.random.default_rng(seed).permutation(len(maps))
    fold = {maps[k]: place % FOLDS + 1 for place, k in enumerate(order)}
    return [fold[one.fingerprint] for one in matrix.instances]


def _description(matrix: Matrix, feature_names: Sequence[str]) -> str:
    algorithms = "".join(
        f"    {json.dumps(name)}:\n        configuration: {json.dumps(name)}\n        deterministic: true\n"
        for name in matrix.algorithms
    )
    listed = "".join(f"    - {name}\n" for name in feature_names)
    provided = "".join(f"            - {name}\n" for name in feature_names)
    return (
        "scenario_id: andante\n"
        "performance_measures:\n    - suboptimality\n"
        "maximize:\n    - false\n"
        "performance_type:\n    - solution_quality\n"
        "algorithm_cutoff_time: ?\nalgorithm_cutoff_memory: ?\n"
        "features_cutoff_time: ?\nfeatures_cutoff_memory: ?\n"
        f"features_deterministic:\n{listed}features_stochastic: []\n"
        f"default_steps:\n    - all\nfeature_steps:\n    all:\n        provides:\n{provided}"
        f"number_of_feature_steps: 1\nmetainfo_algorithms:\n{algorithms}"
    )


def _runs(matrix: Matrix, names: Sequence[str]) -> str:
    ends = "{ok, timeout, memout, crash}"
    columns = [*_KEY, ("algorithm", "STRING"), ("suboptimality", "NUMERIC"), ("runstatus", ends)]
    lines: Iterable[list[str | float]] = (
        [name, 1, algorithm, float(matrix.values[row, column]), "ok"]
        for column, name in enumerate(names)
        for row, algorithm in enumerate(matrix.algorithms)
    )
    return _arff("ALGORITHM_RUNS", columns, lines)


def _features(features: Values, feature_names: Sequence[str], names: Sequence[str]) -> str:
    columns = [*_KEY, *((name, "NUMERIC") for name in feature_names)]
    lines = ([name, 1, *row] for name, row in zip(names, features.tolist(), strict=True))
    return _arff("FEATURE_VALUES", columns, lines)


def _arff(relation: str, columns: Sequence[tuple[str, str]], lines: Iterable[Sequence[str | float]]) -> str:
    head = "".join(f"@ATTRIBUTE {name} {kind}\n" for name, kind in columns)
    quoted = [kind == "STRING" for _, kind in columns]
    body = "".join(
        ",".join(f"'{value}'" if quote else str(value) for value, quote in zip(line, quoted, strict=True)) + "\n"
        for line in lines
    )
    return f"@RELATION {relation}\n\n{head}\n@DATA\n{body}"
