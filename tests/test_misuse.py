"""Mistakes of new users: each is answered in one sentence that says what to do."""

import os

import numpy as np
import pytest

import andante
from andante.cli import main

GRID = andante.Grid(np.ones((5, 6), bool), name="hall")
PROBLEM = GRID.problem((0, 0), (5, 4))

MISUSES = [
    (lambda: andante.random_problems("caves", 1), "random problems need a Grid or a Graph"),
    (lambda: andante.run("lrta", GRID), "a problem is what grid.problem(start, goal) returns, not <Grid hall"),
    (lambda: andante.watch("lrta", GRID), "a problem is what grid.problem(start, goal) returns"),
    (lambda: andante.record("lrta", GRID), "a problem is what grid.problem(start, goal) returns"),
    (lambda: andante.converge("lrta", GRID), "a problem is what grid.problem(start, goal) returns"),
    (lambda: andante.run("lrta", PROBLEM, limits=5), "limits are given as andante.Limits(moves=1000), not as 5"),
    (lambda: andante.run_many("lrta", PROBLEM), "problems are a list, such as andante.random_problems returns"),
    (lambda: andante.run_many("lrta", [1, 2]), "a problem is what grid.problem(start, goal) returns, not 1"),
    (lambda: andante.with_optimal_costs(PROBLEM), "problems are a list"),
    (lambda: andante.with_optimal_costs([GRID]), "a problem is what grid.problem(start, goal) returns"),
    (lambda: andante.write_scenario(PROBLEM, "x.scen"), "problems are a list"),
    (lambda: andante.write_map("x.map", GRID), "a map is written as write_map(grid, path), with a Grid first"),
    (lambda: andante.read_map(None), "a map is read from the path of a file, a text, not None"),
    (lambda: andante.read_scenario("x.scen", "x.map"), "a scenario is read for its map, a Grid, not 'x.map'"),
    (
        lambda: andante.load("x.pattern", map="x.map"),
        "a database is loaded for its map, a Grid or a Graph, not 'x.map'",
    ),
    (lambda: andante.build("pattern", PROBLEM), "a database is built for a Grid or a Graph"),
    (lambda: andante.build(GRID, "pattern"), "the kind of a database is a text such as 'pattern', not <Grid hall"),
    (lambda: andante.advise("arena.map"), "advice is about a Grid or several"),
    (lambda: andante.advise(GRID, 100), "limits are given as andante.Requirements(expansions=100), not 100"),
    (lambda: andante.ladder(GRID, 5), "the limits of a ladder are a list of whole numbers, not 5"),
    (lambda: andante.upscale(PROBLEM, 2), "only a Grid can be upscaled"),
    (lambda: andante.with_landmarks(GRID), "landmarks need a Graph; the graph of a map is grid.graph, not <Grid"),
    (lambda: andante.Hierarchy(PROBLEM), "levels need a Grid or a Graph"),
    (lambda: andante.World("arena.map"), "a world is made of a Grid, as andante.read_map returns, not 'arena.map'"),
    (lambda: andante.Agent("lrta", PROBLEM), "an agent needs a Grid or a Graph"),
    (lambda: andante.Crowd("lrta", PROBLEM), "a crowd needs a Grid or a Graph"),
    (lambda: andante.Graph(3), "a graph is made by Graph.from_edges or read from a file, not 3"),
    (lambda: andante.Graph.from_networkx(3), "from_networkx takes a networkx graph, not 3"),
    (lambda: andante.Graph.from_scipy(3), "from_scipy takes a sparse matrix, such as scipy.sparse.csr_array, not 3"),
    (lambda: andante.Problem(GRID, 0, 1), "a problem needs a Graph; on a map grid.problem(start, goal) makes one"),
    (lambda: andante.random_problems(GRID, 1, optimal_cost=5), "optimal_cost must be a band (low, high)"),
    (lambda: andante.run("lrta", PROBLEM, depth="3"), "depth must be a whole number in [1, 100], got '3'"),
    (
        lambda: andante.run("hcdps", PROBLEM, database=None),
        "has no parameter 'database'; did you mean databases=[...]?",
    ),
    (lambda: andante.find("LRTA"), "there is no algorithm 'LRTA'; did you mean 'lrta'?"),
    (lambda: andante.find("lrtaa"), "there is no algorithm 'lrtaa'; did you mean 'rtaa'?"),
    (lambda: GRID.graph.neighbours(-1), "-1 is not a state; there are 30, numbered from 0"),
    (lambda: GRID.cell(10**9), "1000000000 is not a state of hall, which has 30 cells"),
    (lambda: andante.generate("cave", 8, 8), "there is no kind of map 'cave'; did you mean 'caves'?"),
    (lambda: andante.Requirements(expansions="many"), "the limit on expansions must be a number of at least 0"),
]


@pytest.mark.parametrize(("misuse", "said"), MISUSES)
def test_a_misuse_in_python_is_answered_in_one_sentence(misuse, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(andante.AndanteError) as caught:
        misuse()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not os.listdir(tmp_path)


def test_a_name_that_is_almost_public_is_answered_with_the_public_one():
    with pytest.raises(AttributeError, match="andante has no 'landmarks'; did you mean 'with_landmarks'?"):
        _ = andante.landmarks
    with pytest.raises(AttributeError, match="andante has no 'nothing_like_it'$"):
        _ = andante.nothing_like_it
    assert not hasattr(andante, "__wrapped__")


def test_names_and_rows_that_newcomers_write_are_understood():
    assert andante.Grid(["..@", "..."]).free_cells == 5
    assert andante.find("LRTA*").card.name == "lrta"
    assert str(andante.Outcome.GOAL) == "GOAL"


COMMANDS = [
    ("solv", "There is no command 'solv'; did you mean 'solve'?"),
    ("advise nofolder/", "there is no benchmark set 'nofolder', and no file or folder 'nofolder/'"),
    ("advise ./nofolder", "there is no folder './nofolder', and a map's file ends in .map"),
    ("compare arena", "'arena' is not a .map file, a SET/NAME of a benchmark set or KIND:WIDTHxHEIGHT:SEED"),
    ("solve empty:9:7 --start 1,1 --goal 4,4", "a size is written WIDTHxHEIGHT, such as 512x512, not '9'"),
    ("solve empty:9x9 --start 1 --goal 4,4", "--start is written X,Y, such as 12,40, not '1'"),
    ("solve empty:9x9 --start 1,1 --goal 9,1", "(9, 1) lies outside empty-9x9-seed0, which is 9 x 9 cells"),
    ("solve empty:9x9 --start 1,1 --goal 4,4 --algorithm lrtaa", "there is no algorithm 'lrtaa'; did you mean 'rtaa'?"),
    ("build patern empty:9x9", "there is no kind of database 'patern'; did you mean 'pattern'?"),
    ("solve empty:9x9 --start 1,1 --goal 4,4 --algorithm RTAA", "there is no algorithm 'RTAA'; did you mean 'rtaa'?"),
    ("solve empty:9x9 --start 1,1 --goal 4,4 --trace a.html", "a trace is JSON, and its name must not end in .html"),
    ("study knnn", "there is no study 'knnn'; did you mean 'knn'?"),
    ("campaign run nofile.toml", "cannot read nofile.toml: No such file or directory"),
    ("maps show empty:9x9 --picture x.xyz", "cannot write x.xyz: the file name must end in .png, .svg or .pdf"),
]


@pytest.mark.parametrize(("line", "said"), COMMANDS)
def test_a_misuse_on_the_command_line_is_answered_in_one_sentence(line, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("sys.argv", ["andante", *line.split()])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code != 0
    assert said in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert not os.listdir(tmp_path)
