/* Call a crowd with bad arguments: each call must return a code below 0, and read or write nothing outside.
 * Then call it at random, save it, damage what was saved, and restore it. Compiled with sanitizers. Arguments: how many
 * random calls, a seed, whether the map can change, plan, larger plan, image, plan of another agent's crowd, image of
 * another map. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "andante.h"

static int failures = 0;

static void refused(int code, const char *what) {
    if (code < 0 && strcmp(andante_error_text(code), "there is no such code") != 0) return;
    printf("%s: %d\n", what, code);
    failures++;
}

static uint64_t chance;

static uint32_t random_below(uint32_t most) {
    chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((chance >> 33) % most);
}

typedef struct file {
    unsigned char *data;
    size_t bytes;
} file;

static void *wanted(void *memory) {
    if (memory == NULL) exit(3);
    return memory;
}

static file read_file(const char *path) {
    file made = {NULL, 0};
    FILE *stream = (FILE *)wanted(fopen(path, "rb"));
    fseek(stream, 0, SEEK_END);
    made.bytes = (size_t)ftell(stream);
    rewind(stream);
    made.data = wanted(malloc(made.bytes));
    if (fread(made.data, 1, made.bytes, stream) != made.bytes) exit(3);
    fclose(stream);
    return made;
}

static andante_files both(file plan, file map) {
    andante_files files;
    memset(&files, 0, sizeof files);
    files.plan = plan.data, files.plan_bytes = plan.bytes;
    files.map = map.data, files.map_bytes = map.bytes;
    return files;
}

/* Return a copy that ends after this many bytes, so that a sanitizer reports every read beyond them. */
static file shortened(file whole, size_t bytes) {
    file made = {wanted(malloc(bytes > 0 ? bytes : 1)), bytes};
    memcpy(made.data, whole.data, bytes);
    return made;
}

static void try_all(andante_files files, andante_crowd *lively, const char *what) {
    size_t bytes;
    static uint64_t memory[1 << 16];
    andante_crowd crowd;
    refused(andante_@NAME@_crowd_bytes(&files, &bytes), what);
    refused(andante_@NAME@_crowd_init(&crowd, &files, memory, sizeof memory), what);
    refused(andante_@NAME@_crowd_attach(&crowd, &files, memory, sizeof memory), what);
    andante_tick tick;
    refused(andante_@NAME@_crowd_tick(&crowd, NULL, &tick), what);
    refused(andante_@NAME@_crowd_grow(lively, &files, memory, sizeof memory), what);
}

static void try_files(file plan, file map, andante_crowd *lively) {
    file *two[] = {&plan, &map};
    for (int which = 0; which < 2; which++) {
        file kept = *two[which];
        for (size_t bytes = 0; bytes < kept.bytes; bytes += bytes < 200 ? 3 : 1 + kept.bytes / 20) {
            *two[which] = shortened(kept, bytes);
            try_all(both(plan, map), lively, "cut off");
            free(two[which]->data);
        }
        for (int i = 0; i < 200; i++) { /* one bit flipped: in the head and the table first, then anywhere */
            size_t at = i < 100 ? (size_t)i : random_below((uint32_t)kept.bytes);
            *two[which] = shortened(kept, kept.bytes);
            two[which]->data[at] ^= (unsigned char)(1u << random_below(8));
            try_all(both(plan, map), lively, "a flipped bit");
            free(two[which]->data);
        }
        *two[which] = (file){NULL, 0};
        try_all(both(plan, map), lively, "NULL");
        *two[which] = kept;
    }
    try_all(both(map, plan), lively, "exchanged");
}

static void try_arguments(andante_crowd *crowd, andante_files *files, void *memory, size_t bytes) {
    andante_crowd other;
    memset(&other, 0, sizeof other);
    int32_t unit, states, count;
    const int32_t *cells;
    andante_unit about;
    andante_tick tick;
    size_t size;
    refused(andante_@NAME@_crowd_bytes(NULL, &size), "no files");
    refused(andante_@NAME@_crowd_bytes(files, NULL), "no result");
    refused(andante_@NAME@_crowd_init(NULL, files, memory, bytes), "no crowd");
    refused(andante_@NAME@_crowd_init(&other, NULL, memory, bytes), "no files");
    refused(andante_@NAME@_crowd_init(&other, files, NULL, bytes), "no memory");
    refused(andante_@NAME@_crowd_init(&other, files, memory, bytes - 1), "too little memory");
    refused(andante_@NAME@_crowd_init(&other, files, (char *)memory + 1, bytes), "misaligned");
    refused(andante_@NAME@_crowd_tick(&other, NULL, &tick), "not initialised");
    refused(andante_@NAME@_crowd_add(&other, 0, 1, 1, &unit), "not initialised");
    refused(andante_@NAME@_crowd_seal(&other), "not initialised");
    refused(andante_@NAME@_crowd_seal(NULL), "no crowd");
    refused(andante_@NAME@_crowd_grow(&other, files, memory, bytes), "not initialised");
    refused(andante_@NAME@_crowd_grow(NULL, files, memory, bytes), "no crowd");
    refused(andante_@NAME@_crowd_grow(crowd, NULL, memory, bytes), "no files");
    refused(andante_@NAME@_crowd_grow(crowd, files, NULL, bytes), "no memory");
    refused(andante_@NAME@_crowd_grow(crowd, files, crowd->mind, bytes), "its own memory");
    refused(andante_@NAME@_crowd_tick(crowd, NULL, NULL), "no result");
    refused(andante_@NAME@_crowd_tick(NULL, NULL, &tick), "no crowd");
    refused(andante_@NAME@_crowd_add(crowd, @START@, @GOAL@, 1, NULL), "no result");
    refused(andante_@NAME@_crowd_unit(crowd, 0, &about), "no unit yet");
    refused(andante_@NAME@_crowd_cells(crowd, NULL, &count), "no result");
    refused(andante_@NAME@_crowd_cells(crowd, &cells, NULL), "no result");
    refused(andante_@NAME@_crowd_cells(NULL, &cells, &count), "no crowd");
    if (andante_map_size(files->map, files->map_bytes, &states, NULL, NULL) != 0) exit(6);
    const int32_t strange[] = {-1, -2, INT32_MIN, INT32_MAX, states, states + 1};
    if (andante_@NAME@_crowd_add(crowd, @START@, @GOAL@, 1, &unit) != 0) exit(6);
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        refused(andante_@NAME@_crowd_add(crowd, strange[i], @GOAL@, 1, &unit), "no state");
        refused(andante_@NAME@_crowd_add(crowd, @START@, strange[i], 1, &unit), "no goal");
        refused(andante_@NAME@_crowd_send(crowd, unit, strange[i]), "no goal");
        refused(andante_@NAME@_crowd_put(crowd, unit, strange[i]), "no state");
        refused(andante_@NAME@_crowd_send(crowd, strange[i], @GOAL@), "no unit");
        refused(andante_@NAME@_crowd_put(crowd, strange[i], @GOAL@), "no unit");
        refused(andante_@NAME@_crowd_remove(crowd, strange[i]), "no unit");
        refused(andante_@NAME@_crowd_unit(crowd, strange[i], &about), "no unit");
    }
    refused(andante_@NAME@_crowd_unit(crowd, unit, NULL), "no result");
    refused(andante_@NAME@_crowd_attach(&other, files, crowd->mind, bytes), "not sealed");
}

static int64_t ticking(void *user) { return *(int64_t *)user += 300; }

/* A crowd that is called at random, in memory of its own length. */
typedef struct lively {
    andante_crowd crowd;
    andante_files files;
    void *memory;
    size_t bytes;
} lively;

static void begin(lively *one, andante_files files) {
    one->files = files;
    if (andante_@NAME@_crowd_bytes(&files, &one->bytes) != 0) exit(4);
    one->memory = wanted(malloc(one->bytes));
    memset(one->memory, 0xA5, one->bytes);
    if (andante_@NAME@_crowd_init(&one->crowd, &one->files, one->memory, one->bytes) != 0) exit(5);
}

static void grow(lively *one, file plan) {
    andante_files files = both(plan, (file){(unsigned char *)(size_t)one->files.map, one->files.map_bytes});
    size_t bytes;
    if (andante_@NAME@_crowd_bytes(&files, &bytes) != 0) exit(7);
    void *larger = wanted(malloc(bytes));
    if (andante_@NAME@_crowd_grow(&one->crowd, &files, larger, bytes) != 0) exit(8);
    free(one->memory);
    one->files = files, one->memory = larger, one->bytes = bytes;
}

/* Save the crowd, let it be damaged in every other case, and restore what can be restored. */
static void reload(lively *one) {
    if (andante_@NAME@_crowd_seal(&one->crowd) != 0) exit(9);
    void *copy = wanted(malloc(one->bytes));
    memcpy(copy, one->memory, one->bytes);
    for (int i = 0; i < 8; i++) {
        unsigned char *at = (unsigned char *)copy + random_below(i < 4 ? 512 : (uint32_t)one->bytes);
        unsigned char before = *at;
        andante_crowd other;
        *at = (unsigned char)(before + 1 + random_below(255));
        refused(andante_@NAME@_crowd_attach(&other, &one->files, copy, one->bytes), "a damaged crowd");
        *at = before;
    }
    free(one->memory);
    one->memory = copy;
    if (andante_@NAME@_crowd_attach(&one->crowd, &one->files, copy, one->bytes) != 0) exit(10);
}

/* The same for the map, in its place: it is not the crowd's memory. */
static void reload_world(lively *one, file image) {
    unsigned char *world = (unsigned char *)(size_t)one->files.map;
    size_t bytes = one->files.map_bytes;
    if (andante_world_seal(world, bytes) != 0) exit(13);
    for (int i = 0; i < 8; i++) {
        unsigned char *at = world + random_below(i < 4 ? 512 : (uint32_t)bytes);
        unsigned char before = *at;
        *at = (unsigned char)(before + 1 + random_below(255));
        refused(andante_world_attach(world, bytes, image.data, image.bytes), "a damaged world");
        *at = before;
    }
    if (andante_world_attach(world, bytes, image.data, image.bytes) != 0) exit(14);
    refused(andante_world_attach(world, bytes - 1, image.data, image.bytes), "a world that is too short");
    refused(andante_world_attach(world, bytes, world, bytes), "a world as an image");
    refused(andante_world_attach(world, bytes, NULL, bytes), "no image");
    refused(andante_world_attach(NULL, bytes, image.data, image.bytes), "no world");
    refused(andante_world_seal(image.data, image.bytes), "an image");
}

static void call(lively *one, int living, int32_t states, file image) {
    static int64_t time = 0;
    int32_t unit = (int32_t)random_below(80) - 4, cell = (int32_t)random_below((uint32_t)states + 2) - 1;
    int32_t goal = (int32_t)random_below((uint32_t)states);
    andante_budget budget;
    andante_tick tick;
    memset(&budget, 0, sizeof budget);
    switch (random_below(living ? 11 : 9)) {
    case 0: case 1: andante_@NAME@_crowd_add(&one->crowd, cell, goal, 1 + random_below(3), &unit); break;
    case 2: andante_@NAME@_crowd_send(&one->crowd, unit, cell); break;
    case 3: andante_@NAME@_crowd_put(&one->crowd, unit, cell); break;
    case 4: if (random_below(4) == 0) andante_@NAME@_crowd_remove(&one->crowd, unit); break;
    case 5:
        if (random_below(8) > 0) break;
        reload(one);
        if (living) reload_world(one, image);
        break;
    case 6:
        budget.nanoseconds = random_below(20000);
        budget.clock = ticking;
        budget.user = &time;
        budget.pause_when_full = random_below(2);
        if (andante_@NAME@_crowd_tick(&one->crowd, &budget, &tick) == ANDANTE_FAILED) exit(11);
        break;
    case 7: case 8:
        budget.expansions = random_below(300);
        budget.pause_when_full = random_below(2);
        if (andante_@NAME@_crowd_tick(&one->crowd, &budget, &tick) == ANDANTE_FAILED) exit(12);
        break;
    default: /* close a cell, even where a unit is */
        if (random_below(3) == 0) andante_close_cell((void *)(size_t)one->files.map, one->files.map_bytes, cell);
        else andante_open_cell((void *)(size_t)one->files.map, one->files.map_bytes, cell);
    }
}

int main(int count, char **arguments) {
    if (count < 9) return 3;
    int calls = atoi(arguments[1]), living = atoi(arguments[3]);
    chance = (uint64_t)atoi(arguments[2]);
    file plan = read_file(arguments[4]), larger = read_file(arguments[5]), map = read_file(arguments[6]);
    file other_plan = read_file(arguments[7]), other_map = read_file(arguments[8]);
    file world = shortened(map, map.bytes);
    if (living && andante_world_init(world.data, world.bytes, map.data, map.bytes) != 0) return 4;

    lively one;
    begin(&one, both(plan, world));
    try_files(larger, map, &one.crowd);
    try_all(both(other_plan, world), &one.crowd, "another agent's plan");
    try_all(both(larger, other_map), &one.crowd, "another map");
    memset(one.memory, 0, one.bytes);
    refused(andante_@NAME@_crowd_attach(&one.crowd, &one.files, one.memory, one.bytes), "no crowd");
    free(one.memory);
    begin(&one, both(plan, world));
    try_arguments(&one.crowd, &one.files, one.memory, one.bytes);
    int32_t states;
    andante_map_size(map.data, map.bytes, &states, NULL, NULL);
    for (int i = 0; i < calls; i++) {
        call(&one, living, states, map);
        if (i == calls / 2) grow(&one, larger);
    }
    free(one.memory);
    free(world.data);
    file *five[] = {&plan, &larger, &map, &other_plan, &other_map};
    for (int i = 0; i < 5; i++) free(five[i]->data);
    printf("%d not refused\n", failures);
    return failures > 0;
}
