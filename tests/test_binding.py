"""Bound kernels: they give the same results as with all arrays passed, and never run another kernel's machine code."""

import gc
import json
import os
import subprocess
import sys
import textwrap
import weakref
from typing import NamedTuple

import numpy as np
import pytest

from andante.errors import AlgorithmError
from andante.kernel import Each, bind, entry_of, instantiate, kernel, nth, on_compile

RECORD = np.dtype([("state", np.int16), ("cost", np.float64)])


class Inner(NamedTuple):
    table: np.ndarray
    cube: np.ndarray


class Nothing(NamedTuple):
    pass


class Bundle(NamedTuple):
    flat: np.ndarray
    inner: Inner
    none: Nothing
    rows: np.ndarray
    flags: np.ndarray
    count: int
    share: float
    open: bool


@kernel
def facts(bundle, other, values, k, scale):
    """Return a number that depends on every argument."""
    flat, table, cube = bundle.flat, bundle.inner.table, bundle.inner.cube
    flat[k] += 1
    seen = 1.0 * flat.size + 10 * table.shape[0] + 100 * table.shape[1] + cube[1, 2, 3] + cube.strides[0]
    seen += table[k, 1] + bundle.rows[k]["cost"] + bundle.rows[k]["state"] + flat[k] + bundle.flags[k]
    seen += bundle.count * bundle.share + (1000.0 if bundle.open else 0.0) + other[0]
    for i in range(len(values)):
        seen += scale * values[i]
    return seen


def made(columns=slice(None), opened=True, share=0.25):
    rows = np.zeros(5, RECORD)
    rows["cost"], rows["state"] = np.arange(5) / 8, -np.arange(5)
    table, cube = np.arange(24.0).reshape(4, 6)[:, columns], np.arange(60).reshape(3, 4, 5)
    flags = np.array([True, False, True, True])
    flags.flags.writeable = False
    return Bundle(np.arange(7, dtype=np.int32), Inner(table, cube), Nothing(), rows, flags, 12, share, opened)


@pytest.mark.parametrize("columns", [slice(None), slice(None, None, 2)])
@pytest.mark.parametrize("opened", [True, False])
def test_a_bound_kernel_gets_the_arguments_it_is_bound_to(columns, opened):
    plain, values = getattr(facts, "py_func", facts), np.array([0.5, 0.25])
    one, other, third = made(columns, opened), made(columns, opened), np.array([3], np.uint8)
    bound = bind(facts, one, third, values.dtype)
    for k in range(4):
        for n in range(3):
            assert bound(values.ctypes.data, n, k, 1.5) == plain(other, third, values[:n], k, 1.5)
    assert one.flat.tolist() == other.flat.tolist() != made().flat.tolist()


@kernel
def total(values, share, deep):
    return values[0] + share + deep.share


@pytest.mark.parametrize("number", [3, -(2**62), np.int16(-3), np.uint8(200), 0.1, np.float32(0.5), True, np.True_])
def test_numbers_of_every_kind_can_be_bound(number):
    deep = made(share=-1e300)
    assert bind(total, np.zeros(1), number, deep)() == 0.0 + float(number) - 1e300


def test_bound_arrays_are_kept_alive_as_long_as_they_are_bound():
    array = np.ones(1)
    alive, bound = weakref.ref(array), bind(total, array, 0, made())
    del array
    gc.collect()
    assert bound() == 1.25
    del bound
    gc.collect()
    assert alive() is None


def test_two_kernels_bound_to_bundles_of_one_type_are_different():
    one, other = (bind(total, np.full(1, value), 0, made(share=0.0)) for value in (1.0, 2.0))
    assert (one(), other(), one()) == (1.0, 2.0, 1.0)


@pytest.mark.compiled
def test_only_bundles_can_be_bound():
    with pytest.raises(TypeError, match="cannot be bound to 'text'; bundles hold arrays"):
        bind(kernel(lambda a: 1), "text")()


@kernel
def writes(shared, k):
    shared[k] = 1
    return 0


@kernel
def reads(shared, k):
    return shared[k]


@pytest.mark.compiled
def test_an_array_that_is_read_only_stays_so():
    array = np.arange(3)
    array.flags.writeable = False
    assert bind(reads, array)(2) == 2
    with pytest.raises(AlgorithmError, match=r"in writes: 'shared\[k\] = 1' does not compile: it writes into a graph"):
        bind(writes, array)(0)


def loop(array, k):
    return look(array, k)  # noqa: F821 (put in by `instantiate`)


@kernel
def fails(array, k):
    return np.zeros(k)[0] + array[0]


@pytest.mark.compiled
def test_an_error_names_the_authors_line_and_no_entry():
    with pytest.raises(AlgorithmError, match=r"test_binding.py, line \d+, in fails: 'return np.zeros\(k\)"):
        bind(instantiate(loop, "loop_fails", look=fails), np.zeros(1))(3)


# --- the cache ------------------------------------------------------------------------------------------------------

WEIGHT = """
from typing import NamedTuple
import numpy as np
from andante.kernel import generic, kernel
from scales.generic import weigh

class Bag(NamedTuple):
    values: np.ndarray

@weigh.of(Bag)
def _weigh(bag):
    return {factor} * bag.values[0]
"""

ASK = """
import json, sys
import numpy as np
from andante.kernel import bind, on_compile
heard = []
with on_compile(heard.append):
    from scales import heavy, light
    from scales.generic import both
    bags = [home.Bag(np.ones(1)) for home in (light, heavy)]
    print(json.dumps([[bind(both, *pair)(0) for pair in (bags, bags[::-1], [bags[0]] * 2)], heard]))
"""


@pytest.mark.compiled
def test_bundles_of_the_same_name_are_distinguished_in_the_cache_and_edits_count(tmp_path):
    package = tmp_path / "scales"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "generic.py").write_text(
        textwrap.dedent("""
        from andante.kernel import generic, kernel

        @generic
        def weigh(bag):
            raise TypeError(bag)

        @kernel
        def both(first, second, k):
            return 10 * weigh(first) + weigh(second) + k
        """)
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
        "ANDANTE_CACHE": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }

    def asked(heavy):
        for name, factor in (("light", 1), ("heavy", heavy)):
            (package / f"{name}.py").write_text(WEIGHT.format(factor=factor))
        command = [sys.executable, "-c", ASK]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    for heavy in (5, 7):
        answers, heard = asked(heavy)
        assert answers == [10 + heavy, 10 * heavy + 1, 11]
        assert set(heard) == {"generic.both"}
        assert asked(heavy) == [answers, []]


@pytest.mark.compiled
def test_a_second_binding_compiles_nothing():
    bind(total, np.zeros(1), 1, made())()
    heard = []
    with on_compile(heard.append):
        bind(total, np.ones(1), 2, made())()
    assert heard == []


@kernel
def weighted_sum(bundle, weights, factor):
    total = 0.0
    for i in range(len(bundle.flat)):
        total += bundle.flat[i] * weights[i]
    return factor * bundle.count * total


@pytest.mark.compiled
def test_an_entry_is_what_bind_calls():
    """The context has the same words as that of a bound kernel, and records which of them are addresses."""
    flat, weights = np.arange(5.0), np.ones(5)
    bundle = Bundle(flat, Inner(np.zeros((2, 3)), np.zeros((1, 1, 1))), Nothing(), flat, flat > 2, 7, 0.5, True)
    bound, entry = bind(weighted_sum, bundle, weights), entry_of(weighted_sum, bundle, weights)
    assert bound(2.0) == 2 * 7 * 10
    assert list(entry.words) == bound.keeps[0].tolist()
    assert [entry.words[place] for place, _ in entry.arrays] == [array.ctypes.data for _, array in entry.arrays]
    assert [array.size for _, array in entry.arrays] == [5, 6, 1, 5, 5, 5]
    assert entry.numbers == 1
    assert entry.bitcode.startswith(b"BC")
    again = entry_of(weighted_sum, bundle._replace(flat=np.zeros(9)), np.zeros(9))
    assert again.identity == entry.identity
    assert entry_of(weighted_sum, bundle._replace(flat=np.zeros(9, np.float32)), weights).identity != entry.identity


@kernel
def part_of(shift, each, unit, team):
    one = nth(each, unit, team)
    return shift[0] + one.own[1] + one.shared[0] + one.teams[0]


class Parts(NamedTuple):
    own: np.ndarray
    shared: np.ndarray
    teams: np.ndarray


@pytest.mark.compiled
def test_an_entry_of_many_units_has_the_places_of_all_their_parts():
    block, shared, teams = np.arange(40.0), np.array([1000.0]), np.arange(6.0) * 100
    rows, team_rows = np.ndarray((5, 2), np.float64, block.data, 24, (64, 8)), teams.reshape(3, 2)
    first, shift = Parts(rows[0], shared, team_rows[0]), np.array([0.5])
    each = Each(first, [(first.own, rows)], [(first.teams, team_rows)])
    bound, entry = bind(part_of, shift, each), entry_of(part_of, shift, each)
    assert bound(3, 2) == 0.5 + block[3 + 3 * 8 + 1] + 1000 + 400
    assert [entry.words[place] for place, _ in entry.arrays] == [array.ctypes.data for _, array in entry.arrays]
    assert [id(array) for _, array in entry.arrays] == [id(one) for one in (shift, rows, shared, team_rows)]
    assert list(entry.words) == bound.keeps[0].tolist()
