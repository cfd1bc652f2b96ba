
/* A crowd: many units of one algorithm under one budget per tick. All its memory is one piece, without addresses
 * between ticks: sealed, it can be saved and moved with memcpy, like a mind. Its plan says how many units it has room
 * for, and how many bytes they may take in all. If they would take more, the unit that holds most begins again from
 * where it stands; or the tick pauses, and you give the crowd more memory. */
typedef andante_agent andante_crowd;

/* Return the nanoseconds of a clock that never goes back. (In WebAssembly any clock but NULL stands for the import
 * env.now, which returns them as a number.) */
typedef int64_t (*andante_clock_function)(void *user);

/* What a tick may spend: expansions (the same on every machine) or nanoseconds of the host's clock; 0 is no limit. With
 * pause_when_full no unit begins again when memory is full: `tick` returns ANDANTE_FULL. */
typedef struct andante_budget {
    double expansions, nanoseconds;
    andante_clock_function clock;
    void *user;
    int64_t pause_when_full;
} andante_budget;

/* What happened in a tick; blocked: with bodies, units that could not go where they wished. */
typedef struct andante_tick {
@TICK@
} andante_tick;

/* How a unit stands. */
typedef struct andante_unit {
@ABOUT_UNIT@
} andante_unit;

/* Each crowd of this library has these functions:
 *
 * bytes, init, attach   as for agents, with one piece of memory.
 * add       add a unit; `unit` is its number. A unit of priority 2 gets twice the share of the budget.
 * send      give a unit a new goal; put: put it somewhere else; remove: remove it, its number is used again.
 * unit      say how a unit stands.
 * cells     say where x and y of all units are, by number: valid until the next call that is given other memory. Both
 *           are -1 for units that were removed.
 * tick      let every unit move at most once, as far as the budget reaches (NULL: let every unit move). After
 *           ANDANTE_FULL call it once more with the same budget: it goes on where it paused, in the memory that `grow`
 *           was given, or, without pause_when_full, in the same. All else but `grow`, `seal`, `unit` and `cells` has to
 *           wait until then.
 * grow      move the crowd into larger memory, for a plan of a larger crowd (andante export --grow): `files` are as
 *           before, with that plan. It goes on exactly where it was, with more room for units and for what they learn.
 *           Afterwards the old memory is yours again. Takes time in proportion to the memory.
 */
