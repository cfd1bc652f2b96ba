
/* --- crowds ------------------------------------------------------------------------------------------------------- */

typedef int32_t march_code(double *spent, void **exception, int64_t context, int64_t turn, double budget, double share,
                           int64_t everybody, int64_t timed, int64_t bodies);
typedef int32_t release_code(void **nothing, void **exception, int64_t context, int64_t numbers, int64_t count);
typedef int32_t held_code(int64_t *bytes, void **exception, int64_t context, int64_t units, int64_t count,
                          int64_t held, int64_t room);
typedef int32_t begin_code(double *weight, void **exception, int64_t context);
typedef int32_t end_code(void **nothing, void **exception, int64_t context, int64_t turn);
typedef int32_t resolve_code(int64_t *moved, void **exception, int64_t context, int64_t order, int64_t count);
typedef int32_t cut_off_code(int64_t *found, void **exception, int64_t context, int64_t count);
typedef int32_t drop_wishes_code(int64_t *dropped, void **exception, int64_t context);
@KERNELS@

enum { @CROWD_NUMBERS@, CROWD_NUMBERS };
enum { @CONSTANTS@ };
enum { IN_WORK = 1, IN_TIME = 2 }; /* what a tick that pauses spends */
#define LEAST_PRIORITY @LEAST_PRIORITY@
#define MOST_PRIORITY @MOST_PRIORITY@

typedef struct unit {
@UNIT@
} unit;

typedef struct squad {
@SQUAD@
} squad;

typedef struct team {
@TEAM@
} team;

/* What the memory of a crowd begins with. */
typedef struct crowd_head {
@CROWD_HEAD@
} crowd_head;

/* The code of one algorithm; release_teams is NULL if units learn for themselves. */
typedef struct squad_code {
    int64_t number;
    march_code *march;
    release_code *release, *release_teams;
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

/* --- tables ------------------------------------------------------------------------------------------------------- */

static int64_t said(const andante_crowd *crowd, int which) { return numbers_of(crowd->plan)[which]; }

static void *table(const andante_crowd *crowd, int which) { return (uint8_t *)crowd->mind + said(crowd, which); }

static int64_t context_of(const andante_crowd *crowd, int which) { return address(crowd->context + said(crowd, which)); }

static crowd_head *head_of(const andante_crowd *crowd) { return (crowd_head *)crowd->mind; }

static squad *squad_of(const andante_crowd *crowd) { return (squad *)table(crowd, CROWD_squad); }

static unit *unit_at(const andante_crowd *crowd, int64_t number) { return (unit *)table(crowd, CROWD_units) + number; }

static int32_t *numbers_in(const andante_crowd *crowd, int which) { return (int32_t *)table(crowd, which); }

/* Return where a part of the memory is that a plan describes, and how many bytes it has. */
static const int64_t *part_of(const void *plan, int64_t number) {
    return (const int64_t *)(const void *)((const uint8_t *)plan + numbers_of(plan)[CROWD_parts]) + 2 * number;
}

/* Return one of the numbers of units that were removed, in the order in which they are used again. */
static int32_t free_id_at(const andante_crowd *crowd, int64_t place) {
    return numbers_in(crowd, CROWD_free_ids)[(head_of(crowd)->first_free_id + place) % said(crowd, CROWD_most_units)];
}

/* --- checks ------------------------------------------------------------------------------------------------------- */

static int check_crowd(const andante_crowd *crowd, int64_t code_number) {
    if (crowd == NULL) return ANDANTE_NULL;
    if (crowd->plan == NULL || crowd->mind == NULL) return ANDANTE_NO_AGENT;
    return head_of(crowd)->code == code_number ? ANDANTE_OK : ANDANTE_NO_AGENT;
}

/* Check a crowd before something is changed between two ticks. */
static int open_crowd(const andante_crowd *crowd, int64_t code_number) {
    int fault = check_crowd(crowd, code_number);
    if (fault != ANDANTE_OK) return fault;
    if (head_of(crowd)->pauses) return ANDANTE_UNFINISHED;
    head_of(crowd)->seal = 0;
    return ANDANTE_OK;
}

static int check_unit(const andante_crowd *crowd, int32_t number) {
    if (number < 0 || number >= said(crowd, CROWD_most_units)) return ANDANTE_NO_UNIT;
    return unit_at(crowd, number)->squad == NOBODY ? ANDANTE_NO_UNIT : ANDANTE_OK;
}

static int check_goal(const andante_crowd *crowd, int32_t goal) {
    int64_t served = said(crowd, CROWD_served);
    int fault = check_state(crowd->map, goal);
    if (fault != ANDANTE_OK) return fault;
    return served && !((const uint8_t *)crowd->plan)[served + goal] ? ANDANTE_NOT_SERVED : ANDANTE_OK;
}

/* Check that a unit, or a new one, can be in a state: with bodies no other unit may be there. */
static int check_place(const andante_crowd *crowd, int32_t state, int64_t number) {
    int fault = check_state(crowd->map, state);
    if (fault != ANDANTE_OK || !said(crowd, CROWD_bodies)) return fault;
    int64_t other = (int64_t)numbers_in(crowd, CROWD_standing)[state] - 1;
    return other >= 0 && other != number ? ANDANTE_TAKEN : ANDANTE_OK;
}

/* --- teams: units with the same goal that learn together ---------------------------------------------------------- */

static void join_team(const andante_crowd *crowd, unit *row) {
    if (!said(crowd, CROWD_shares)) return;
    crowd_head *head = head_of(crowd);
    team *teams = (team *)table(crowd, CROWD_teams);
    int32_t *at = numbers_in(crowd, CROWD_team_at) + row->goal;
    if (*at == NO_TEAM) {
        *at = (int32_t)(head->free_team != NO_TEAM ? head->free_team : ++head->teams);
        if (*at == head->free_team) head->free_team = teams[*at].next;
        teams[*at].goal = row->goal;
        teams[*at].problem = ++head->problems;
        teams[*at].strength = 0;
    }
    teams[*at].strength++;
    row->team = *at;
    row->problem = teams[*at].problem;
    row->begins = NEW_PROBLEM;
}

/* Free what the last unit of a team leaves behind. */
static void leave_team(const andante_crowd *crowd, const squad_code *code, unit *row) {
    int64_t number = row->team;
    if (number == NO_TEAM) return;
    crowd_head *head = head_of(crowd);
    team *one = (team *)table(crowd, CROWD_teams) + number;
    void *nothing, *exception;
    row->team = NO_TEAM;
    if (--one->strength > 0) return;
    numbers_in(crowd, CROWD_team_at)[one->goal] = NO_TEAM;
    one->next = (int32_t)head->free_team;
    head->free_team = number;
    code->release_teams(&nothing, &exception, context_of(crowd, CROWD_release_teams), address(&number), 1);
}

/* --- adding and removing units ------------------------------------------------------------------------------------ */

static int64_t outcome_at(const andante_crowd *crowd, int64_t state, int64_t goal) {
    if (state == goal) return ANDANTE_GOAL;
    return are_apart(crowd->map, state, goal) ? ANDANTE_OUTCOME_UNREACHABLE : ANDANTE_WALKING;
}

static void give_back(const andante_crowd *crowd, const squad_code *code, int64_t number) {
    void *nothing, *exception;
    leave_team(crowd, code, unit_at(crowd, number));
    code->release(&nothing, &exception, context_of(crowd, CROWD_release), address(&number), 1);
}

static void open_account(const andante_crowd *crowd, unit *row) {
    const squad *at = squad_of(crowd);
    row->balance = row->last = 0;
    row->turn = row->joined = head_of(crowd)->turn;
    row->round = at->round;
    row->given = at->given;
}

static void note_outcome(const andante_crowd *crowd, unit *row, int64_t outcome) {
    row->outcome = outcome;
    if (outcome == ANDANTE_OUTCOME_UNREACHABLE) head_of(crowd)->unreachable++;
}

static void set_out(const andante_crowd *crowd, unit *row, int64_t goal) {
    row->goal = row->aim = goal;
    row->begins = NEW_PROBLEM;
    row->turn = row->joined = head_of(crowd)->turn;
    row->wish = NO_WISH;
    row->moves = row->expanded = 0;
    row->cost = 0;
    note_outcome(crowd, row, outcome_at(crowd, row->state, goal));
    if (row->outcome == ANDANTE_WALKING) join_team(crowd, row);
    head_of(crowd)->ordered = UNORDERED;
}

static void leave_place(const andante_crowd *crowd, const unit *row) {
    if (said(crowd, CROWD_bodies)) numbers_in(crowd, CROWD_standing)[row->state] = FREE;
}

static void place(const andante_crowd *crowd, int64_t number, int64_t state) {
    int64_t width = numbers_of(crowd->map)[MAP_width];
    int32_t *cell = numbers_in(crowd, CROWD_cells) + 2 * number;
    unit *row = unit_at(crowd, number);
    row->state = state;
    row->wish = NO_WISH;
    if (said(crowd, CROWD_bodies)) numbers_in(crowd, CROWD_standing)[state] = (int32_t)number + 1;
    cell[0] = (int32_t)(state % width);
    cell[1] = (int32_t)(state / width);
}

static int set_up_crowd(andante_crowd *crowd, const andante_files *files, int64_t code_number, void *memory,
                        size_t bytes, int is_new) {
    int fault = open_files(crowd, files, code_number, "crowd", CROWD_NUMBERS, memory, bytes, NULL, 0, is_new);
    if (fault == ANDANTE_OK && !is_new) fault = check_version(crowd->map, head_of(crowd)->seen);
    if (fault != ANDANTE_OK || !is_new) {
        if (fault != ANDANTE_OK && crowd != NULL) crowd->plan = NULL;
        return fault;
    }
    restart(crowd, MIND, (uint8_t *)memory, (uint64_t)said(crowd, CROWD_mind_bytes));
    crowd_head *head = head_of(crowd);
    head->code = code_number;
    head->plan = read32((const uint8_t *)files->plan + 12);
    head->version = head->news = -1;
    head->ordered = UNORDERED;
    return ANDANTE_OK;
}

static int seal_crowd(const andante_crowd *crowd, int64_t code_number) {
    int fault = check_crowd(crowd, code_number);
    if (fault == ANDANTE_OK) seal_mind(crowd);
    return fault;
}

/* Return whether every part of a crowd's memory is at least as long in another plan of the same crowd. */
static int has_room_for(const void *larger, const void *plan) {
    const int64_t *one = numbers_of(larger), *other = numbers_of(plan);
    int64_t count = other[CROWD_part_count];
    if (one[CROWD_family] != other[CROWD_family] || one[CROWD_part_count] != count) return 0;
    for (int64_t i = 0; i < count; i++)
        if (part_of(larger, i)[1] < part_of(plan, i)[1]) return 0;
    return count > 0;
}

static int overlap(const void *one, uint64_t one_bytes, const void *other, uint64_t other_bytes) {
    uintptr_t a = (uintptr_t)one, b = (uintptr_t)other;
    return a < b ? b - a < one_bytes : a - b < other_bytes;
}

/* Let a crowd continue in larger memory, of a larger plan. What is longer there begins with what was there before. */
static int grow_crowd(andante_crowd *crowd, const squad_code *code, const andante_files *files, void *memory,
                      size_t bytes) {
    int fault = check_crowd(crowd, code->number);
    if (fault != ANDANTE_OK) return fault;
    fault = check_memory(files, code->number, "crowd", CROWD_NUMBERS, memory, bytes, NULL, 0);
    if (fault != ANDANTE_OK) return fault;
    const void *plan = crowd->plan;
    const uint8_t *old = (const uint8_t *)crowd->mind;
    const crowd_head *was = (const crowd_head *)crowd->mind;
    if (!has_room_for(files->plan, plan)) return ANDANTE_OTHER_CROWD;
    uint64_t before = (uint64_t)numbers_of(plan)[PLAN_mind_bytes];
    uint64_t after = (uint64_t)numbers_of(files->plan)[PLAN_mind_bytes];
    if (overlap(memory, after, old, before)) return ANDANTE_OVERLAP;
    put_in(crowd, files, memory, NULL);
    restart(crowd, MIND, (uint8_t *)memory, after);
    for (int64_t i = 0; i < said(crowd, CROWD_part_count); i++) {
        const int64_t *from = part_of(plan, i), *to = part_of(crowd->plan, i);
        copy((uint8_t *)memory + to[0], old + from[0], (uint64_t)from[1]);
    }
    crowd_head *head = head_of(crowd);
    *head = *was;
    head->plan = read32((const uint8_t *)files->plan + 12);
    head->seal = head->first_free_id = 0;
    const int32_t *ring = (const int32_t *)(const void *)(old + numbers_of(plan)[CROWD_free_ids]);
    for (int64_t i = 0; i < head->free_ids; i++) /* the ring has another length */
        numbers_in(crowd, CROWD_free_ids)[i] = ring[(was->first_free_id + i) % numbers_of(plan)[CROWD_most_units]];
    return ANDANTE_OK;
}

/* Return the number of a new unit: the one that was freed first, or else a new one; NOBODY if there is none. */
static int32_t new_number(const andante_crowd *crowd) {
    crowd_head *head = head_of(crowd);
    int64_t most = said(crowd, CROWD_most_units);
    if (head->free_ids == 0) return head->ids < most ? (int32_t)head->ids++ : NOBODY;
    int32_t number = free_id_at(crowd, 0);
    head->first_free_id = (head->first_free_id + 1) % most;
    head->free_ids--;
    return number;
}

/* Return a slot for a new unit: the one that was freed last, or else a new one. */
static int64_t new_slot(const andante_crowd *crowd) {
    crowd_head *head = head_of(crowd);
    return head->free_slots > 0 ? numbers_in(crowd, CROWD_free_slots)[--head->free_slots] : squad_of(crowd)->slots++;
}

static int add_unit(const andante_crowd *crowd, const squad_code *code, int32_t start, int32_t goal, double priority,
                    int32_t *number) {
    int fault = open_crowd(crowd, code->number);
    if (fault != ANDANTE_OK) return fault;
    if (number == NULL) return ANDANTE_NULL;
    if ((fault = check_place(crowd, start, NOBODY)) != ANDANTE_OK) return fault;
    if ((fault = check_goal(crowd, goal)) != ANDANTE_OK) return fault;
    if (!(priority >= LEAST_PRIORITY && priority <= MOST_PRIORITY)) return ANDANTE_BAD_LIMIT;
    int32_t made = new_number(crowd);
    if (made == NOBODY) return ANDANTE_CROWD_FULL;
    unit *row = unit_at(crowd, made);
    clear((uint8_t *)row, sizeof *row);
    row->priority = priority;
    row->anchored = said(crowd, CROWD_anchored) != 0;
    place(crowd, made, start);
    row->slot = new_slot(crowd);
    numbers_in(crowd, CROWD_members)[row->slot] = made;
    open_account(crowd, row);
    set_out(crowd, row, goal);
    *number = made;
    return ANDANTE_OK;
}

/* Let a unit continue to a goal that has moved a little; return whether it does. */
static int pursue(const andante_crowd *crowd, unit *row, int64_t goal) {
    if (row->outcome != ANDANTE_WALKING || !said(crowd, CROWD_pursues) || said(crowd, CROWD_shares)) return 0;
    if (outcome_at(crowd, row->state, goal) != ANDANTE_WALKING) return 0;
    double walked = walk_between(crowd->map, goal, row->goal);
    if (walked < 0 || walked == infinity()) return 0;
    row->goal = goal;
    return 1;
}

static int send_unit(const andante_crowd *crowd, const squad_code *code, int32_t number, int32_t goal) {
    int fault = open_crowd(crowd, code->number);
    if (fault != ANDANTE_OK || (fault = check_unit(crowd, number)) != ANDANTE_OK) return fault;
    if ((fault = check_goal(crowd, goal)) != ANDANTE_OK) return fault;
    unit *row = unit_at(crowd, number);
    int walks = row->outcome == ANDANTE_WALKING;
    if ((walks && row->goal == goal) || pursue(crowd, row, goal)) return ANDANTE_OK;
    if (!walks) open_account(crowd, row);
    give_back(crowd, code, number);
    set_out(crowd, row, goal);
    return ANDANTE_OK;
}

static int put_unit(const andante_crowd *crowd, const squad_code *code, int32_t number, int32_t state) {
    int fault = open_crowd(crowd, code->number);
    if (fault != ANDANTE_OK || (fault = check_unit(crowd, number)) != ANDANTE_OK) return fault;
    if ((fault = check_place(crowd, state, number)) != ANDANTE_OK) return fault;
    unit *row = unit_at(crowd, number);
    int walked = row->outcome == ANDANTE_WALKING, begins = row->anchored ? NEW_PROBLEM : NEW_TRIAL;
    leave_place(crowd, row);
    place(crowd, number, state);
    if (row->begins < begins) row->begins = begins;
    note_outcome(crowd, row, outcome_at(crowd, state, row->goal));
    if (row->outcome == ANDANTE_WALKING && !walked) open_account(crowd, row);
    if (row->outcome != ANDANTE_WALKING) give_back(crowd, code, number);
    else if (row->team == NO_TEAM) join_team(crowd, row);
    head_of(crowd)->ordered = UNORDERED;
    return ANDANTE_OK;
}

static int remove_unit(const andante_crowd *crowd, const squad_code *code, int32_t number) {
    int fault = open_crowd(crowd, code->number);
    if (fault != ANDANTE_OK || (fault = check_unit(crowd, number)) != ANDANTE_OK) return fault;
    crowd_head *head = head_of(crowd);
    unit *row = unit_at(crowd, number);
    int32_t *cell = numbers_in(crowd, CROWD_cells) + 2 * (int64_t)number;
    give_back(crowd, code, number);
    leave_place(crowd, row);
    numbers_in(crowd, CROWD_members)[row->slot] = NOBODY;
    numbers_in(crowd, CROWD_free_slots)[head->free_slots++] = (int32_t)row->slot;
    numbers_in(crowd, CROWD_free_ids)[(head->first_free_id + head->free_ids++) % said(crowd, CROWD_most_units)] = number;
    clear((uint8_t *)row, sizeof *row);
    row->squad = NOBODY;
    row->wish = NO_WISH;
    row->state = cell[0] = cell[1] = NOWHERE;
    head->ordered = UNORDERED;
    return ANDANTE_OK;
}

static int look_at_unit(const andante_crowd *crowd, const squad_code *code, int32_t number, andante_unit *about) {
    int fault = check_crowd(crowd, code->number);
    if (fault != ANDANTE_OK || (fault = check_unit(crowd, number)) != ANDANTE_OK) return fault;
    if (about == NULL) return ANDANTE_NULL;
    const unit *row = unit_at(crowd, number);
    about->outcome = row->outcome;
    about->state = row->state;
    about->goal = row->goal;
    about->moves = row->moves;
    about->cost = row->cost;
    about->expanded = row->expanded;
    about->restarts = row->restarts;
    return ANDANTE_OK;
}

static int look_at_cells(const andante_crowd *crowd, const squad_code *code, const int32_t **cells, int32_t *count) {
    int fault = check_crowd(crowd, code->number);
    if (fault != ANDANTE_OK) return fault;
    if (cells == NULL || count == NULL) return ANDANTE_NULL;
    *cells = numbers_in(crowd, CROWD_cells);
    *count = (int32_t)head_of(crowd)->ids;
    return ANDANTE_OK;
}

/* --- bodies ------------------------------------------------------------------------------------------------------- */

static int decides_before(const andante_crowd *crowd, int32_t one, int32_t other) {
    int64_t a = unit_at(crowd, one)->joined, b = unit_at(crowd, other)->joined;
    return a != b ? a < b : one < other;
}

/* Let the unit at a place of a heap sink until all below it decide before it. */
static void sink(const andante_crowd *crowd, int32_t *heap, int64_t at, int64_t count) {
    int32_t moved = heap[at];
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && decides_before(crowd, heap[child], heap[child + 1])) child++;
        if (!decides_before(crowd, moved, heap[child])) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* Sort all units by the tick in which they set out, and those of the same tick by their numbers. */
static void put_in_order(const andante_crowd *crowd) {
    crowd_head *head = head_of(crowd);
    int32_t *order = numbers_in(crowd, CROWD_order);
    int64_t count = 0;
    for (int32_t i = 0; i < head->ids; i++)
        if (unit_at(crowd, i)->squad != NOBODY) order[count++] = i;
    for (int64_t i = count / 2 - 1; i >= 0; i--) sink(crowd, order, i, count);
    for (int64_t left = count - 1; left > 0; left--) {
        int32_t last = order[0];
        order[0] = order[left];
        order[left] = last;
        sink(crowd, order, 0, left);
    }
    head->ordered = count;
}

/* Let units with bodies move where they can. */
static int decide(const andante_crowd *crowd, const squad_code *code, andante_tick *result) {
    crowd_head *head = head_of(crowd);
    void *exception;
    if (head->ordered == UNORDERED) put_in_order(crowd);
    if (CROWD_CODE.resolve(&result->moved, &exception, context_of(crowd, CROWD_resolve),
                           address(numbers_in(crowd, CROWD_order)), head->ordered))
        return ANDANTE_FAILED;
    result->arrived = result->blocked = 0;
    for (int64_t i = 0; i < head->ids; i++) {
        unit *row = unit_at(crowd, i);
        if (row->wish != NO_WISH) result->blocked++;
        if (!row->arrived) continue;
        row->arrived = 0;
        result->arrived++;
        give_back(crowd, code, i);
    }
    return ANDANTE_OK;
}

/* --- a tick ------------------------------------------------------------------------------------------------------- */

/* React to changes of the map: units whose goals are cut off end, and moves that became impossible are dropped. */
static int look_at_map(const andante_crowd *crowd, const squad_code *code) {
    if (!numbers_of(crowd->map)[MAP_living]) return ANDANTE_OK;
    crowd_head *head = head_of(crowd);
    int64_t news = world_news(crowd->map), version = world_version(crowd->map), found = 0, dropped = 0;
    void *exception;
    head->seen = version;
    if (news != head->news) {
        head->news = news;
        if (CROWD_CODE.cut_off(&found, &exception, context_of(crowd, CROWD_cut_off), head->ids)) return ANDANTE_FAILED;
        const int64_t *lost = (const int64_t *)table(crowd, CROWD_lost);
        for (int64_t i = 0; i < found; i++) give_back(crowd, code, lost[i]);
        head->unreachable += found;
    }
    if (version == head->version || !said(crowd, CROWD_bodies)) return ANDANTE_OK;
    head->version = version;
    if (CROWD_CODE.drop_wishes(&dropped, &exception, context_of(crowd, CROWD_drop_wishes))) return ANDANTE_FAILED;
    return ANDANTE_OK;
}

/* Return the bytes of all units that are or were in use, before they have learned anything. */
static int64_t fixed_bytes(const andante_crowd *crowd) {
    return squad_of(crowd)->slots * said(crowd, CROWD_unit_bytes);
}

/* Begin to share a budget among units of this total weight. What they received in advance is subtracted. */
static void deal(const andante_crowd *crowd, double budget, double weight) {
    crowd_head *head = head_of(crowd);
    double usual = budget == infinity() ? 0 : budget / weight;
    head->left = budget;
    head->usual = usual;
    head->saved = head->ahead > usual ? head->ahead - usual : 0;
    head->share = usual > head->ahead ? usual - head->ahead : 0;
    head->passes = 0;
}

/* Let units move until the budget is spent. What is left of it is shared again while units wait. If more memory is
 * needed first, return ANDANTE_FULL; the next call continues there. */
static int spend(const andante_crowd *crowd, const squad_code *code, int timed) {
    crowd_head *head = head_of(crowd);
    const squad *at = squad_of(crowd);
    int everybody = head->left == infinity();
    while (head->left > 0 && (at->looked > 0 || at->moved < at->walking)) {
        double spent = 0, share = at->looked > 0 ? 0 : head->share;
        void *exception;
        if (code->march(&spent, &exception, context_of(crowd, CROWD_march), head->turn, head->left, share, everybody,
                        timed, said(crowd, CROWD_bodies)))
            return ANDANTE_FAILED;
        if (at->looked > 0) return ANDANTE_FULL;
        head->left -= spent;
        head->passes++;
        head->share = (head->left > 0 ? head->left : 0) / at->weight;
        for (int64_t i = PATIENT_PASSES; i < head->passes; i++) head->share *= 2;
        head->saved += head->share;
    }
    double most = MOST_AHEAD * head->usual;
    head->ahead = at->moved < at->walking ? (head->saved < most ? head->saved : most) : 0;
    return ANDANTE_OK;
}

/* Forget what units received and spent, because the unit of budgets changes between expansions and nanoseconds. */
static void close_accounts(const andante_crowd *crowd, int timed) {
    crowd_head *head = head_of(crowd);
    squad *at = squad_of(crowd);
    for (int64_t i = 0; i < head->ids; i++) unit_at(crowd, i)->last = 0;
    at->round++;
    at->given_before = at->given;
    at->mean = at->total = at->highest = 0;
    at->seen = 0;
    head->ahead = 0;
    head->timed = timed;
}

/* Write what units have done in a tick so far. */
static void report(const andante_crowd *crowd, andante_tick *result) {
    const squad *at = squad_of(crowd);
    result->number = head_of(crowd)->turn;
    result->moved = at->moved;
    result->waiting = at->walking - at->moved;
    result->arrived = at->arrived;
    result->stuck = at->stuck;
    result->unreachable = at->unreachable + head_of(crowd)->unreachable;
    result->blocked = 0;
    result->restarted = at->restarted;
    result->expansions = at->expanded;
    result->longest_wait = at->longest_wait;
}

/* Write how many bytes all units use. */
static int report_bytes(const andante_crowd *crowd, const squad_code *code, andante_tick *result) {
    void *exception;
    if (code->held(&result->bytes, &exception, context_of(crowd, CROWD_held), 0, 0, 0, 0)) return ANDANTE_FAILED;
    result->bytes += fixed_bytes(crowd);
    return ANDANTE_OK;
}

/* Write the result of a tick, and let units that have ended leave their teams. */
static int end_tick(const andante_crowd *crowd, const squad_code *code, andante_tick *result) {
    crowd_head *head = head_of(crowd);
    const squad *at = squad_of(crowd);
    void *nothing, *exception;
    if (CROWD_CODE.end(&nothing, &exception, context_of(crowd, CROWD_end), head->turn)) return ANDANTE_FAILED;
    report(crowd, result);
    if (said(crowd, CROWD_bodies) && decide(crowd, code, result) != ANDANTE_OK) return ANDANTE_FAILED;
    for (int64_t i = 0; said(crowd, CROWD_shares) && i < head->ids; i++)
        if (unit_at(crowd, i)->team != NO_TEAM && unit_at(crowd, i)->outcome != ANDANTE_WALKING)
            give_back(crowd, code, i);
    head->unreachable = 0;
    if (report_bytes(crowd, code, result) != ANDANTE_OK) return ANDANTE_FAILED;
    return at->faulty != NOBODY ? ANDANTE_FAILED : ANDANTE_OK;
}

/* Begin a tick: look at the map, and share the budget. */
static int begin_tick(const andante_crowd *crowd, const squad_code *code, double amount, int timed) {
    crowd_head *head = head_of(crowd);
    double weight = 0;
    void *exception;
    int fault = check_version(crowd->map, head->seen);
    if (fault != ANDANTE_OK) return fault;
    head->turn++;
    if ((fault = look_at_map(crowd, code)) != ANDANTE_OK) return fault;
    if (CROWD_CODE.begin(&weight, &exception, context_of(crowd, CROWD_begin))) return ANDANTE_FAILED;
    if (amount < infinity() && timed != head->timed) close_accounts(crowd, timed);
    if (weight > 0) deal(crowd, amount, weight);
    return ANDANTE_OK;
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
    crowd_head *head = head_of(crowd);
    squad *at = squad_of(crowd);
    int64_t *scratch = (int64_t *)table(crowd, CROWD_scratch);
    int64_t kind = timed ? IN_TIME : IN_WORK;
    if (head->pauses != 0 && head->pauses != kind) return ANDANTE_UNFINISHED;
    head->seal = 0;
    if (head->pauses == 0 && (fault = begin_tick(crowd, code, amount, timed)) != ANDANTE_OK) return fault;
    if (timed) {
        scratch[2] = (int64_t)(uintptr_t)budget->clock;
        scratch[3] = address(budget->user);
    }
    at->room = said(crowd, CROWD_memory) - fixed_bytes(crowd);
    at->pauses = budget != NULL && budget->pause_when_full;
    fault = at->weight > 0 ? spend(crowd, code, timed) : ANDANTE_OK;
    scratch[2] = scratch[3] = 0; /* memory holds no address between ticks */
    head->pauses = fault == ANDANTE_FULL ? kind : 0;
    if (head->pauses) {
        report(crowd, result);
        return report_bytes(crowd, code, result) == ANDANTE_OK ? ANDANTE_FULL : ANDANTE_FAILED;
    }
    int ended = end_tick(crowd, code, result);
    return fault != ANDANTE_OK ? fault : ended;
}
