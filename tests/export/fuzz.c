/* Call the library with bad arguments: each call must return a code below 0, and read or write nothing outside.
 * Compiled with sanitizers. Arguments: plan, image, database, plan of another agent, image of another map. */
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

typedef struct file {
    unsigned char *data;
    size_t bytes;
} file;

static file read_file(const char *path) {
    file made = {NULL, 0};
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) exit(3);
    fseek(stream, 0, SEEK_END);
    made.bytes = (size_t)ftell(stream);
    rewind(stream);
    made.data = malloc(made.bytes);
    if (made.data == NULL || fread(made.data, 1, made.bytes, stream) != made.bytes) exit(3);
    fclose(stream);
    return made;
}

static andante_files all(file plan, file map, file database) {
    andante_files files;
    memset(&files, 0, sizeof files);
    files.plan = plan.data, files.plan_bytes = plan.bytes;
    files.map = map.data, files.map_bytes = map.bytes;
    files.databases[0] = database.data, files.database_bytes[0] = database.bytes;
    return files;
}

/* Return a copy that ends after this many bytes, so that a sanitizer reports every read beyond them. */
static file shortened(file whole, size_t bytes) {
    file made = {malloc(bytes > 0 ? bytes : 1), bytes};
    if (made.data == NULL) exit(3);
    memcpy(made.data, whole.data, bytes);
    return made;
}

static void try_all(andante_files files, const char *what) {
    size_t mind, desk;
    static uint64_t memory[1 << 16];
    andante_agent agent;
    refused(andante_@NAME@_bytes(&files, &mind, &desk), what);
    refused(andante_@NAME@_init(&agent, &files, memory, sizeof memory, memory, sizeof memory), what);
    refused(andante_@NAME@_attach(&agent, &files, memory, sizeof memory, memory, sizeof memory), what);
    andante_move move;
    refused(andante_@NAME@_move(&agent, 0, 1, &move), what);
}

int main(int count, char **arguments) {
    if (count < 6) return 3;
    file plan = read_file(arguments[1]), map = read_file(arguments[2]), database = read_file(arguments[3]);
    file other_plan = read_file(arguments[4]), other_map = read_file(arguments[5]);
    file nothing = {NULL, 0};
    file *three[] = {&plan, &map, &database};
    uint32_t chance = 1;

    for (int which = 0; which < 3; which++) {
        file kept = *three[which];
        for (size_t bytes = 0; bytes < kept.bytes; bytes += bytes < 200 ? 1 : 1 + kept.bytes / 40) {
            *three[which] = shortened(kept, bytes);
            try_all(all(plan, map, database), "cut off");
            free(three[which]->data);
        }
        for (int i = 0; i < 300; i++) { /* one bit flipped: in the head and the table first, then anywhere */
            chance = chance * 1664525 + 1013904223;
            size_t at = (i < 150 ? (size_t)i : (size_t)chance) % kept.bytes;
            *three[which] = shortened(kept, kept.bytes);
            three[which]->data[at] ^= (unsigned char)(1u << (chance >> 29));
            try_all(all(plan, map, database), "a flipped bit");
            free(three[which]->data);
        }
        *three[which] = nothing;
        try_all(all(plan, map, database), "NULL");
        *three[which] = shortened(kept, kept.bytes);
        three[which]->data = realloc(three[which]->data, kept.bytes + 1);
        memmove(three[which]->data + 1, three[which]->data, kept.bytes);
        three[which]->data++;
        try_all(all(plan, map, database), "misaligned");
        free(three[which]->data - 1);
        *three[which] = kept;
    }
    try_all(all(map, plan, database), "exchanged");
    try_all(all(plan, map, map), "a map as a database");
    try_all(all(other_plan, map, database), "another agent's plan");
    try_all(all(plan, other_map, database), "another map");

    andante_files files = all(plan, map, database);
    size_t mind_bytes, desk_bytes;
    refused(andante_@NAME@_bytes(NULL, &mind_bytes, &desk_bytes), "no files");
    refused(andante_@NAME@_bytes(&files, NULL, &desk_bytes), "no result");
    if (andante_@NAME@_bytes(&files, &mind_bytes, &desk_bytes) != 0) return 4;
    void *mind = malloc(mind_bytes), *desk = malloc(desk_bytes + 1);
    andante_agent agent;
    memset(&agent, 0, sizeof agent);
    andante_move move;
    andante_trial trial;
    int keeps;
    refused(andante_@NAME@_move(&agent, 0, 1, &move), "not initialised");
    refused(andante_@NAME@_init(NULL, &files, mind, mind_bytes, desk, desk_bytes), "no agent");
    refused(andante_@NAME@_init(&agent, NULL, mind, mind_bytes, desk, desk_bytes), "no files");
    refused(andante_@NAME@_init(&agent, &files, NULL, mind_bytes, desk, desk_bytes), "no mind");
    refused(andante_@NAME@_init(&agent, &files, mind, mind_bytes - 1, desk, desk_bytes), "a mind that is too small");
    if (desk_bytes > 0) {
        refused(andante_@NAME@_init(&agent, &files, mind, mind_bytes, NULL, desk_bytes), "no desk");
        refused(andante_@NAME@_init(&agent, &files, mind, mind_bytes, desk, desk_bytes - 1), "a desk that is too small");
    }
    memset(mind, 0, mind_bytes);
    refused(andante_@NAME@_attach(&agent, &files, mind, mind_bytes, desk, desk_bytes), "no mind");
    if (andante_@NAME@_init(&agent, &files, mind, mind_bytes, desk, desk_bytes) != 0) return 5;
    int32_t states;
    if (andante_map_size(map.data, map.bytes, &states, NULL, NULL) != 0) return 6;
    refused(andante_map_size(NULL, map.bytes, &states, NULL, NULL), "no map");
    refused(andante_@NAME@_retarget(&agent, 0, &keeps), "no goal yet");
    refused(andante_@NAME@_go_on(&agent, NULL, 0, &trial), "no run yet");
    const int32_t strange[] = {-1, -2, INT32_MIN, INT32_MAX, states, states + 1};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        refused(andante_@NAME@_move(&agent, strange[i], 0, &move), "no state");
        refused(andante_@NAME@_move(&agent, 0, strange[i], &move), "no goal");
        refused(andante_@NAME@_run(&agent, strange[i], 0, NULL, NULL, 0, &trial), "no start");
        refused(andante_@NAME@_run(&agent, 0, strange[i], NULL, NULL, 0, &trial), "no goal");
    }
    const andante_limits limits[] = {{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    for (int i = 0; i < 3; i++)
        refused(andante_@NAME@_run(&agent, @START@, @GOAL@, &limits[i], NULL, 0, &trial), "a limit below 0");
    refused(andante_@NAME@_run(&agent, @START@, @START@, NULL, NULL, 0, &trial), "start is goal");
    refused(andante_@NAME@_run(&agent, @START@, @GOAL@, NULL, NULL, 5, &trial), "no room");
    refused(andante_@NAME@_run(&agent, @START@, @GOAL@, NULL, NULL, 0, NULL), "no result");
    refused(andante_@NAME@_move(&agent, @START@, @GOAL@, NULL), "no result");
    refused(andante_@NAME@_move(NULL, @START@, @GOAL@, &move), "no agent");
    refused(andante_close_cell(map.data, map.bytes, 0), "a map that does not change");
    refused(andante_open_cell(NULL, map.bytes, 0), "no world");
    refused(andante_world_init(NULL, map.bytes, map.data, map.bytes), "no memory");
    if (andante_@NAME@_run(&agent, @START@, @GOAL@, NULL, NULL, 0, &trial) != 0 || trial.moves == 0) return 7;
    free(mind);
    free(desk);
    file *five[] = {&plan, &map, &database, &other_plan, &other_map};
    for (int i = 0; i < 5; i++) free(five[i]->data);
    printf("%d not refused\n", failures);
    return failures > 0;
}
