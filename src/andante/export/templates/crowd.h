
/* A crowd: many units of one algorithm under one budget per tick. All its memory is one block, without addresses
 * between ticks: sealed, it can be saved and moved with memcpy, like a mind. Its plan determines how many units it has
 * room for, and how many bytes they can use together. If they need more, the unit that uses the most forgets what it
 * has learned and continues from its cell; or the tick pauses, and you give the crowd more memory. */
typedef andante_agent andante_crowd;

/* Return the nanoseconds of a clock that never goes back. (In WebAssembly any clock but NULL means the import env.now,
 * which returns them as a number.) */
typedef int64_t (*andante_clock_function)(void *user);

/* What a tick may spend: expansions (the same on every machine) or nanoseconds of the host's clock; 0 is no limit. With
 * pause_when_full no unit forgets when memory is full: `tick` returns ANDANTE_FULL instead. */
typedef struct andante_budget {
    double expansions, nanoseconds;
    andante_clock_function clock;
    void *user;
    int64_t pause_when_full;
} andante_budget;

/* What happened in a tick; blocked: with bodies, units that could not move. */
typedef struct andante_tick {
@TICK@
} andante_tick;

/* The state of a unit, and what it has done so far. */
typedef struct andante_unit {
@ABOUT_UNIT@
} andante_unit;

/* Each crowd of this library has these functions:
 *
 * bytes, init, attach   as for agents, with one block of memory.
 * add       add a unit; `unit` is its number. A unit of priority 2 gets twice the share of the budget.
 * send      give a unit a new goal; put: put it somewhere else; remove: remove it, its number is used again.
 * unit      return the state of a unit, and what it has done so far.
 * cells     return where x and y of all units are, by number; valid until the crowd gets other memory. Both are -1 for
 *           units that were removed.
 * tick      let every unit move at most once, until the budget is spent (NULL: let every unit move). After ANDANTE_FULL
 *           call it again with the same budget, either after `grow` or without pause_when_full: it continues where it
 *           paused. Until then only `grow`, `seal`, `unit` and `cells` may be called.
 * grow      move the crowd into larger memory, for a plan of a larger crowd (andante export --grow): `files` are as
 *           before, with that plan. The crowd continues exactly where it was, with more room for units and what they
 *           learn. Afterwards you can free the old memory. Takes time in proportion to the memory.
 */
