
/* --- crowds ------------------------------------------------------------------------------------------------------- */

typedef int32_t march_code(double *spent, void **exception, int64_t context, int64_t turn, double budget, double share,
                           int64_t everybody, int64_t timed, int64_t bodies);
typedef int32_t begin_code(double *weight, void **exception, int64_t context);
typedef int32_t end_code(void **nothing, void **exception, int64_t context, int64_t turn);
typedef int32_t release_code(void **nothing, void **exception, int64_t context, int64_t units, int64_t count);
typedef int32_t held_code(int64_t *bytes, void **exception, int64_t context, int64_t units, int64_t count,
                          int64_t held, int64_t room);

enum { @CROWD_NUMBERS@, CROWD_NUMBERS };
enum { NOBODY = -1, NO_WISH = -1, NEW_TRIAL = 1, NEW_PROBLEM = 2, PATIENT_PASSES = 4, MOST_AHEAD = 4 };

typedef struct unit {
@UNIT@
} unit;

typedef struct squad {
@SQUAD@
} squad;

/* What the memory of a crowd begins with. */
typedef struct crowd_head {
    int64_t code, plan, turn, timed, unreachable;
    double ahead;
} crowd_head;

/* The code of one algorithm. */
typedef struct squad_code {
    int64_t number;
    march_code *march;
    begin_code *begin;
    end_code *end;
    release_code *release;
    held_code *held;
} squad_code;

/* Read the clock of the host, which `tick` has put behind the two words that loops use elsewhere. */
#ifdef __wasm__
__attribute__((import_module("env"), import_name("now"))) extern double andante_host_now(void);
int64_t andante_clock(void *buffer) {
    return ((const int64_t *)buffer)[2] != 0 ? (int64_t)andante_host_now() : 0;
}
#else
int64_t andante_clock(void *buffer);
int64_t andante_clock(void *buffer) {
    const int64_t *words = (const int64_t *)buffer;
    andante_clock_function clock = (andante_clock_function)(uintptr_t)words[2];
    return clock != NULL ? clock((void *)(uintptr_t)words[3]) : 0;
}
#endif

static void *table(const andante_crowd *crowd, int which) {
    return (uint8_t *)crowd->mind + numbers_of(crowd->plan)[which];
}

static int64_t context_of(const andante_crowd *crowd, int which) {
    return address(crowd->context + (which < 0 ? 0 : numbers_of(crowd->plan)[which]));
}

static int check_crowd(const andante_crowd *crowd, int64_t code_number) {
    if (crowd == NULL) return ANDANTE_NULL;
    if (crowd->plan == NULL || crowd->mind == NULL) return ANDANTE_NO_AGENT;
    return ((const crowd_head *)crowd->mind)->code == code_number ? ANDANTE_OK : ANDANTE_NO_AGENT;
}

static int check_unit(const andante_crowd *crowd, int64_t code_number, int32_t number) {
    int fault = check_crowd(crowd, code_number);
    if (fault != ANDANTE_OK) return fault;
    if (number < 0 || number >= numbers_of(crowd->plan)[CROWD_most_units]) return ANDANTE_NO_UNIT;
    return ((const unit *)table(crowd, CROWD_units))[number].squad == NOBODY ? ANDANTE_NO_UNIT : ANDANTE_OK;
}

static int check_goal(const andante_crowd *crowd, int32_t goal) {
    const int64_t *about = numbers_of(crowd->plan);
    int fault = check_state(crowd->map, goal);
    if (fault != ANDANTE_OK) return fault;
    return about[CROWD_served] && !((const uint8_t *)crowd->plan)[about[CROWD_served] + goal] ? ANDANTE_NOT_SERVED
                                                                                           : ANDANTE_OK;
}

static int64_t outcome_at(const andante_crowd *crowd, int64_t state, int64_t goal) {
    if (state == goal) return ANDANTE_GOAL;
    return are_apart(crowd->map, state, goal) ? ANDANTE_OUTCOME_UNREACHABLE : ANDANTE_WALKING;
}

static void give_back(const andante_crowd *crowd, const squad_code *code, int64_t number) {
    void *nothing, *exception;
    code->release(&nothing, &exception, context_of(crowd, CROWD_release), address(&number), 1);
}

static void open_account(const andante_crowd *crowd, unit *row) {
    const squad *at = (const squad *)table(crowd, CROWD_squad);
    row->balance = row->last = 0;
    row->turn = row->joined = ((const crowd_head *)crowd->mind)->turn;
    row->round = at->round;
    row->given = at->given;
}

static void note_outcome(const andante_crowd *crowd, unit *row, int64_t outcome) {
    row->outcome = outcome;
    if (outcome == ANDANTE_OUTCOME_UNREACHABLE) ((crowd_head *)crowd->mind)->unreachable++;
}

static void set_out(const andante_crowd *crowd, unit *row, int64_t goal) {
    row->goal = row->aim = goal;
    row->begins = NEW_PROBLEM;
    row->turn = row->joined = ((const crowd_head *)crowd->mind)->turn;
    row->wish = NO_WISH;
    row->moves = row->expanded = 0;
    row->cost = 0;
    note_outcome(crowd, row, outcome_at(crowd, row->state, goal));
}

static void place(const andante_crowd *crowd, int64_t number, int64_t state) {
    int64_t width = numbers_of(crowd->map)[MAP_width];
    int32_t *cell = (int32_t *)table(crowd, CROWD_cells) + 2 * number;
    ((unit *)table(crowd, CROWD_units))[number].state = state;
    cell[0] = state < 0 ? NOBODY : (int32_t)(state % width);
    cell[1] = state < 0 ? NOBODY : (int32_t)(state / width);
}

static int set_up_crowd(andante_crowd *crowd, const andante_files *files, int64_t code_number, void *memory,
                        size_t bytes, int is_new) {
    size_t needed, nothing;
    if (crowd == NULL) return ANDANTE_NULL;
    crowd->plan = NULL;
    int fault = sizes(files, code_number, "crowd", CROWD_NUMBERS, &needed, &nothing);
    if (fault != ANDANTE_OK) return fault;
    if (memory == NULL) return ANDANTE_NULL;
    if (misaligned(memory)) return ANDANTE_MISALIGNED;
    if (bytes < needed) return ANDANTE_TOO_SMALL;
    crowd_head *head = (crowd_head *)memory;
    uint32_t plan = read32((const uint8_t *)files->plan + 12);
    if (!is_new && (head->code != code_number || head->plan != plan)) return ANDANTE_OTHER_MIND;
    crowd->map = files->map;
    crowd->mind = memory;
    crowd->desk = NULL;
    for (int i = 0; i < ANDANTE_DATABASES; i++) crowd->databases[i] = files->databases[i];
    crowd->plan = files->plan;
    if ((fault = fill_in(crowd, files)) != ANDANTE_OK) {
        crowd->plan = NULL;
        return fault;
    }
    if (is_new) {
        restart(crowd, MIND, (uint8_t *)memory, needed);
        head->code = code_number;
        head->plan = plan;
    }
    return ANDANTE_OK;
}

static int add_unit(const andante_crowd *crowd, const squad_code *code, int32_t start, int32_t goal, double priority,
                    int32_t *number) {
    int fault = check_crowd(crowd, code->number);
    if (fault != ANDANTE_OK) return fault;
    if (number == NULL) return ANDANTE_NULL;
    if ((fault = check_state(crowd->map, start)) != ANDANTE_OK) return fault;
    if ((fault = check_goal(crowd, goal)) != ANDANTE_OK) return fault;
    if (!(priority > 0) || priority == infinity()) return ANDANTE_BAD_LIMIT;
    int32_t *members = (int32_t *)table(crowd, CROWD_members), free = 0;
    int64_t most = numbers_of(crowd->plan)[CROWD_most_units];
    while (free < most && members[free] != NOBODY) free++;
    if (free == most) return ANDANTE_CROWD_FULL;
    unit *row = (unit *)table(crowd, CROWD_units) + free;
    squad *at = (squad *)table(crowd, CROWD_squad);
    clear((uint8_t *)row, sizeof *row);
    row->priority = priority;
    row->anchored = numbers_of(crowd->plan)[CROWD_anchored] != 0;
    row->slot = free;
    members[free] = free;
    if (at->slots <= free) at->slots = free + 1;
    place(crowd, free, start);
    open_account(crowd, row);
    set_out(crowd, row, goal);
    *number = free;
    return ANDANTE_OK;
}

static int send_unit(const andante_crowd *crowd, const squad_code *code, int32_t number, int32_t goal) {
    int fault = check_unit(crowd, code->number, number);
    if (fault != ANDANTE_OK) return fault;
    if ((fault = check_goal(crowd, goal)) != ANDANTE_OK) return fault;
    unit *row = (unit *)table(crowd, CROWD_units) + number;
    int walks = row->outcome == ANDANTE_WALKING;
    if (walks && row->goal == goal) return ANDANTE_OK;
    if (walks && numbers_of(crowd->plan)[CROWD_pursues] && outcome_at(crowd, row->state, goal) == ANDANTE_WALKING) {
        double walked = walk_between(crowd->map, goal, row->goal);
        if (walked >= 0 && walked < infinity()) {
            row->goal = goal;
            return ANDANTE_OK;
        }
    }
    if (!walks) open_account(crowd, row);
    give_back(crowd, code, number);
    set_out(crowd, row, goal);
    return ANDANTE_OK;
}

static int put_unit(const andante_crowd *crowd, const squad_code *code, int32_t number, int32_t state) {
    int fault = check_unit(crowd, code->number, number);
    if (fault != ANDANTE_OK) return fault;
    if ((fault = check_state(crowd->map, state)) != ANDANTE_OK) return fault;
    unit *row = (unit *)table(crowd, CROWD_units) + number;
    int walked = row->outcome == ANDANTE_WALKING, begins = row->anchored ? NEW_PROBLEM : NEW_TRIAL;
    place(crowd, number, state);
    if (row->begins < begins) row->begins = begins;
    note_outcome(crowd, row, outcome_at(crowd, state, row->goal));
    if (row->outcome != ANDANTE_WALKING) give_back(crowd, code, number);
    else if (!walked) open_account(crowd, row);
    return ANDANTE_OK;
}

static int remove_unit(const andante_crowd *crowd, const squad_code *code, int32_t number) {
    int fault = check_unit(crowd, code->number, number);
    if (fault != ANDANTE_OK) return fault;
    unit *row = (unit *)table(crowd, CROWD_units) + number;
    give_back(crowd, code, number);
    ((int32_t *)table(crowd, CROWD_members))[row->slot] = NOBODY;
    clear((uint8_t *)row, sizeof *row);
    row->squad = NOBODY;
    row->wish = NO_WISH;
    place(crowd, number, NOBODY);
    return ANDANTE_OK;
}

static int look_at_unit(const andante_crowd *crowd, const squad_code *code, int32_t number, andante_unit *about) {
    int fault = check_unit(crowd, code->number, number);
    if (fault != ANDANTE_OK) return fault;
    if (about == NULL) return ANDANTE_NULL;
    const unit *row = (const unit *)table(crowd, CROWD_units) + number;
    about->outcome = row->outcome;
    about->state = row->state;
    about->goal = row->goal;
    about->moves = row->moves;
    about->cost = row->cost;
    about->expanded = row->expanded;
    about->restarts = row->restarts;
    return ANDANTE_OK;
}

/* Return what units take before they have learned anything: those that are there and those that were. */
static int64_t fixed_bytes(const andante_crowd *crowd) {
    return ((const squad *)table(crowd, CROWD_squad))->slots * numbers_of(crowd->plan)[CROWD_unit_bytes];
}

/* Let units move until the budget is spent: what is left of it is shared again while units wait. */
static int spend(const andante_crowd *crowd, const squad_code *code, double left, int timed, double weight) {
    crowd_head *head = (crowd_head *)crowd->mind;
    const squad *at = (const squad *)table(crowd, CROWD_squad);
    int everybody = left == infinity(), passes = 0;
    double usual = everybody ? 0 : left / weight;
    double ahead = head->ahead > usual ? head->ahead - usual : 0, share = usual > head->ahead ? usual - head->ahead : 0;
    while (left > 0 && at->moved < at->walking) {
        double spent = 0;
        void *exception;
        if (code->march(&spent, &exception, context_of(crowd, -1), head->turn, left, share, everybody, timed, 0))
            return ANDANTE_FAILED;
        left -= spent;
        passes++;
        share = (left > 0 ? left : 0) / weight;
        for (int i = PATIENT_PASSES; i < passes; i++) share *= 2;
        ahead += share;
    }
    double most = MOST_AHEAD * usual;
    head->ahead = at->moved < at->walking ? (ahead < most ? ahead : most) : 0;
    return ANDANTE_OK;
}

/* Forget what units were given and spent: from now on it is in expansions and not in nanoseconds, or back. */
static void close_accounts(const andante_crowd *crowd, int timed) {
    crowd_head *head = (crowd_head *)crowd->mind;
    squad *at = (squad *)table(crowd, CROWD_squad);
    unit *rows = (unit *)table(crowd, CROWD_units);
    for (int64_t i = 0; i < at->slots; i++) rows[i].last = 0;
    at->round++;
    at->given_before = at->given;
    at->mean = at->total = at->highest = 0;
    at->seen = 0;
    head->ahead = 0;
    head->timed = timed;
}

static int tick(const andante_crowd *crowd, const squad_code *code, const andante_budget *budget, andante_tick *result) {
    int fault = check_crowd(crowd, code->number);
    if (fault != ANDANTE_OK) return fault;
    if (result == NULL) return ANDANTE_NULL;
    double amount = infinity();
    int timed = 0;
    if (budget != NULL) {
        if (!(budget->expansions >= 0) || !(budget->nanoseconds >= 0)) return ANDANTE_BAD_LIMIT;
        if (budget->expansions > 0 && budget->nanoseconds > 0) return ANDANTE_BAD_LIMIT;
        timed = budget->nanoseconds > 0;
        if (timed && budget->clock == NULL) return ANDANTE_NULL;
        if (timed) amount = budget->nanoseconds;
        else if (budget->expansions > 0) amount = budget->expansions;
    }
    crowd_head *head = (crowd_head *)crowd->mind;
    squad *at = (squad *)table(crowd, CROWD_squad);
    int64_t *scratch = (int64_t *)table(crowd, CROWD_scratch);
    double weight = 0;
    void *nothing, *exception;
    head->turn++;
    if (code->begin(&weight, &exception, context_of(crowd, CROWD_begin))) return ANDANTE_FAILED;
    if (amount < infinity() && timed != head->timed) close_accounts(crowd, timed);
    if (timed) {
        scratch[2] = (int64_t)(uintptr_t)budget->clock;
        scratch[3] = address(budget->user);
    }
    at->room = numbers_of(crowd->plan)[CROWD_memory] - fixed_bytes(crowd);
    if (weight > 0) fault = spend(crowd, code, amount, timed, weight);
    scratch[2] = scratch[3] = 0; /* memory holds no address between ticks */
    if (code->end(&nothing, &exception, context_of(crowd, CROWD_end), head->turn)) return ANDANTE_FAILED;
    result->number = head->turn;
    result->moved = at->moved;
    result->waiting = at->walking - at->moved;
    result->arrived = at->arrived;
    result->unreachable = at->unreachable + head->unreachable;
    result->stuck = at->stuck;
    result->restarted = at->restarted;
    result->expansions = at->expanded;
    result->longest_wait = at->longest_wait;
    head->unreachable = 0;
    if (code->held(&result->bytes, &exception, context_of(crowd, CROWD_held), 0, 0, 0, 0)) return ANDANTE_FAILED;
    result->bytes += fixed_bytes(crowd);
    return fault != ANDANTE_OK || at->faulty != NOBODY ? ANDANTE_FAILED : ANDANTE_OK;
}
