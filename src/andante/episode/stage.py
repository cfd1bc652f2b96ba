"""Scenes in progress: the events before each tick, which change the map and the goals of units.

Time is counted in ticks, and a unit makes one move per tick. All events of a tick happen before the moves of that tick.
A goal that would move into a wall stays where it is. A goal that flees moves to the neighbouring cell that is farthest
from its unit, in moves of a chess king. Among equals the one that takes most straight moves is chosen, then the first
in the order of the graph's neighbours. The goal stays if no neighbouring cell is farther.
"""

from __future__ import annotations

from collections.abc import Callable

from andante.world.grid import Grid
from andante.world.layout import DX, DY, GridArrays
from andante.world.living import World
from andante.world.scenes import Cell, Change, Scene

_STEPS = list(zip(DX.tolist(), DY.tolist(), strict=True))


class Stage:
    """A scene in progress on a map, which is a `World` if the scene changes it.

    With ``only`` the goal of that unit moves, and the goals of all others stay where they are.

    >>> import andante
    >>> scene = Scene(andante.generate("empty", 5, 5), [((0, 0), (4, 4))], [Change(2, (1, 1), opened=False)])
    >>> stage = Stage(scene)
    >>> stage.play(1, lambda unit: 0), stage.play(2, lambda unit: 0), stage.world.version, stage.next_tick
    ([], [], 1, None)
    """

    def __init__(self, scene: Scene, only: int | None = None) -> None:
        self.world = World(scene.grid) if scene.changes else scene.grid
        self.goals = [scene.grid.state(*goal) for _, goal in scene.units]
        self._events, self._next = scene.events, 0
        self._only = only
        self._flights = [one for one in scene.flights if only in (None, one.unit)]

    @property
    def next_tick(self) -> int | None:
        """The tick before which the next event happens, or None if there are no more events."""
        return self._events[self._next].tick if self._next < len(self._events) else None

    def play(self, tick: int, place: Callable[[int], int]) -> list[int]:
        """Apply all events up to a tick, and return the units whose goals have moved, each once.

        ``place`` returns the state of a unit, from which its goal may flee.
        """
        moved: dict[int, None] = {}
        while self._next < len(self._events) and self._events[self._next].tick <= tick:
            event = self._events[self._next]
            self._next += 1
            if isinstance(event, Change):
                assert isinstance(self.world, World)
                (self.world.open if event.opened else self.world.close)(event.cell)
            elif self._only in (None, event.unit) and self._set_goal(event.unit, event.goal):
                moved[event.unit] = None
        for unit, every in self._flights:
            if tick % every == 0 and self._set_goal(unit, fled(self.world, self.goals[unit], place(unit))):
                moved[unit] = None
        return list(moved)

    def _set_goal(self, unit: int, cell: Cell) -> bool:
        """Move a goal, and return False if it stays where it is."""
        x, y = cell
        state = self.world.state(x, y)
        if not self.world.passable[y, x] or state == self.goals[unit]:
            return False
        self.goals[unit] = state
        return True


def fled(world: Grid, goal: int, hunter: int) -> Cell:
    """Return the cell to which a goal flees from a hunter.

    >>> import andante
    >>> grid = andante.generate("empty", 5, 5)
    >>> fled(grid, grid.state(2, 2), grid.state(1, 1)), fled(grid, grid.state(4, 4), grid.state(3, 3))
    ((3, 3), (4, 4))
    """
    x, y = world.cell(hunter)

    def far(cell: Cell) -> tuple[int, int]:
        right, down = abs(cell[0] - x), abs(cell[1] - y)
        return max(right, down), right + down

    arrays = world.graph.arrays
    assert isinstance(arrays, GridArrays)
    legal, (gx, gy) = int(arrays.mask[goal]), world.cell(goal)
    beside = [(gx + dx, gy + dy) for d, (dx, dy) in enumerate(_STEPS) if legal >> d & 1]
    return max([(gx, gy), *beside], key=far)
