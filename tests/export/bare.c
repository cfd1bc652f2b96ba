/* Walk problems on an ARM processor without a C library, so that none has to be compiled first.
 *
 *   bare AGENT PLAN IMAGE TASK [DATABASE ...]
 *
 * TASK has 32-bit numbers: the number of problems, with their starts and goals; the number of edits, each with the turn,
 * the cell, and whether it opens. Prints a line for each problem, and one for each move of the first, with floats as bits.
 */
#include "andante.h"

typedef struct functions {
    const char *name;
    int (*bytes)(const andante_files *, size_t *, size_t *);
    int (*init)(andante_agent *, const andante_files *, void *, size_t, void *, size_t);
    int (*attach)(andante_agent *, const andante_files *, void *, size_t, void *, size_t);
    int (*move)(andante_agent *, int32_t, int32_t, andante_move *);
    int (*run)(andante_agent *, int32_t, int32_t, const andante_limits *, andante_step *, size_t, andante_trial *);
    int (*go_on)(andante_agent *, andante_step *, size_t, andante_trial *);
    int (*seal)(andante_agent *);
} functions;

#define AGENT(name)                                                                                                \
    {#name, andante_##name##_bytes, andante_##name##_init, andante_##name##_attach, andante_##name##_move,          \
     andante_##name##_run, andante_##name##_go_on, andante_##name##_seal}

static const functions AGENTS[] = {@AGENTS@};

enum { OPEN = 56, READ = 63, WRITE = 64, EXIT = 93, HERE = -100, STEPS = 64 };

static long call(long number, long first, long second, long third) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = first;
    register long x1 __asm__("x1") = second;
    register long x2 __asm__("x2") = third;
    register long x3 __asm__("x3") = 0;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}

static void check(int code) {
    if (code >= 0) return;
    const char *text = andante_error_text(code);
    long length = 0;
    while (text[length]) length++;
    call(WRITE, 2, (long)text, length);
    call(EXIT, 1, 0, 0);
}

static _Alignas(64) uint8_t memory[1 << 26];
static size_t used;

static void *reserve(size_t bytes) {
    void *found = memory + used;
    used += (bytes + 63) / 64 * 64;
    if (used > sizeof memory) call(EXIT, 2, 0, 0);
    return found;
}

static const void *whole(const char *path, size_t *bytes) {
    long file = call(OPEN, HERE, (long)path, 0), got;
    uint8_t *begin = memory + used;
    *bytes = 0;
    if (file < 0) call(EXIT, 3, 0, 0);
    while ((got = call(READ, file, (long)(begin + *bytes), (long)(sizeof memory - used - *bytes))) > 0)
        *bytes += (size_t)got;
    return reserve(*bytes);
}

static char line[1 << 20];
static size_t written;

static void end_line(void) {
    line[written++] = '\n';
    call(WRITE, 1, (long)line, (long)written);
    written = 0;
}

static void print(int64_t number) {
    char digits[24];
    int count = 0;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do digits[count++] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (number < 0) line[written++] = '-';
    while (count > 0) line[written++] = digits[--count];
    line[written++] = ' ';
}

static void print_bits(double value) {
    union {
        double value;
        int64_t bits;
    } both = {value};
    print(both.bits);
}

static void walk(const functions *code, andante_agent *agent, int32_t start, int32_t goal) {
    static andante_step steps[STEPS];
    const andante_limits limits = {0, 5000, 0};
    andante_trial trial;
    int more = code->run(agent, start, goal, &limits, steps, STEPS, &trial);
    print(start);
    for (;; more = code->go_on(agent, steps, STEPS, &trial)) {
        check(more);
        for (int64_t i = 0; i < trial.steps; i++) print(steps[i].state);
        if (more != ANDANTE_MORE) break;
    }
    print(trial.outcome);
    print_bits(trial.cost);
    end_line();
}

static int same(const char *one, const char *other) {
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}

void begin(long *stack);
void begin(long *stack) {
    char **arguments = (char **)(stack + 1);
    const functions *code = AGENTS;
    andante_files files = {0};
    size_t task_bytes, mind_bytes, desk_bytes;
    while (!same(code->name, arguments[1])) code++;
    files.plan = whole(arguments[2], &files.plan_bytes);
    files.map = whole(arguments[3], &files.map_bytes);
    const int32_t *task = whole(arguments[4], &task_bytes);
    for (long i = 5; i < stack[0]; i++) files.databases[i - 5] = whole(arguments[i], &files.database_bytes[i - 5]);
    size_t world_bytes;
    void *world = NULL;
    if (andante_world_bytes(files.map, files.map_bytes, &world_bytes) == ANDANTE_OK) {
        world = reserve(world_bytes);
        check(andante_world_init(world, world_bytes, files.map, files.map_bytes));
        files.map = world;
        files.map_bytes = world_bytes;
    }
    check(code->bytes(&files, &mind_bytes, &desk_bytes));
    uint8_t *mind = reserve(mind_bytes), *desk = reserve(desk_bytes);
    andante_agent agent;
    check(code->init(&agent, &files, mind, mind_bytes, desk, desk_bytes));

    const int32_t problems = *task++, *problem = task, *edits = task + 2 * problems;
    for (int32_t i = 0; i < problems; i++) walk(code, &agent, problem[2 * i], problem[2 * i + 1]);
    int32_t state = problem[0], goal = problem[1];
    for (int32_t turn = 0; turn < 40 && state != goal; turn++) {
        for (int32_t i = 0; i < edits[0]; i++) {
            const int32_t *edit = edits + 1 + 3 * i;
            if (edit[0] == turn) check((edit[2] ? andante_open_cell : andante_close_cell)(world, world_bytes, edit[1]));
        }
        if (turn == 20) { /* saved, and restored elsewhere */
            uint8_t *copy = reserve(mind_bytes);
            check(code->seal(&agent));
            for (size_t i = 0; i < mind_bytes; i++) copy[i] = mind[i];
            check(code->attach(&agent, &files, copy, mind_bytes, desk, desk_bytes));
        }
        andante_move made;
        check(code->move(&agent, state, goal, &made));
        print(made.to);
        print_bits(made.cost);
        print(made.expanded);
        print(made.touched);
        print_bits(made.learned);
        print(made.stored);
        end_line();
        if (made.to < 0) break;
        state = made.to;
    }
    call(EXIT, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n mov x0, sp\n b begin\n");
