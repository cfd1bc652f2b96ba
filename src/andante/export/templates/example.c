/* Walk one problem with @ALGORITHM@, move by move, and once more in one go.
 *
 *   @COMMAND@
 *   ./example data
 *
 * Written by `andante export`. This file is in the public domain: take what you need.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "andante.h"

/* Read a file into memory that malloc aligned. */
static void *read_file(const char *folder, const char *name, size_t *bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    fseek(stream, 0, SEEK_END);
    *bytes = (size_t)ftell(stream);
    rewind(stream);
    void *data = malloc(*bytes > 0 ? *bytes : 1);
    if (data == NULL || fread(data, 1, *bytes, stream) != *bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(stream);
    return data;
}

static void check(int code) {
    if (code < 0) {
        fprintf(stderr, "%s\n", andante_error_text(code));
        exit(1);
    }
}

int main(int count, char **arguments) {
    const char *folder = count > 1 ? arguments[1] : "data";
    andante_files files;
    memset(&files, 0, sizeof files);
    files.plan = read_file(folder, "@PLAN@", &files.plan_bytes);
    files.map = read_file(folder, "@IMAGE@", &files.map_bytes);
@DATABASES@@WORLD@
    /* This program allocates all memory. The mind is what the agent keeps, the desk is scratch memory for one move. */
    size_t mind_bytes, desk_bytes;
    check(andante_@NAME@_bytes(&files, &mind_bytes, &desk_bytes));
    void *mind = malloc(mind_bytes), *saved = malloc(mind_bytes), *desk = malloc(desk_bytes > 0 ? desk_bytes : 1);
    if (mind == NULL || saved == NULL || desk == NULL) return 1;
    andante_agent agent;
    check(andante_@NAME@_init(&agent, &files, mind, mind_bytes, desk, desk_bytes));

    const int32_t start = @START@, goal = @GOAL@;
    int32_t state = start, middle = start;
    double cost = 0;
    long moves = 0;
    while (state != goal) {
        andante_move move;
        check(andante_@NAME@_move(&agent, state, goal, &move));
        if (move.to < 0) break; /* ANDANTE_STUCK or ANDANTE_UNREACHABLE */
        state = move.to;
        cost += move.cost;
        moves++;
        if (moves == 3) { /* save the game: a mind holds no address */
            check(andante_@NAME@_seal(&agent));
            memcpy(saved, mind, mind_bytes);
            middle = state;
        }
    }
    printf("%ld moves, cost %.4f, %s\n", moves, cost, state == goal ? "arrived" : "gave up");

    if (moves > 3) { /* load the game: the same moves again */
        long again = 3;
        memcpy(mind, saved, mind_bytes);
        check(andante_@NAME@_attach(&agent, &files, mind, mind_bytes, desk, desk_bytes));
        for (state = middle; state != goal; again++) {
            andante_move move;
            check(andante_@NAME@_move(&agent, state, goal, &move));
            if (move.to < 0) break;
            state = move.to;
        }
        printf("%ld moves after loading\n", again);
    }

    andante_step steps[64];
    andante_trial trial;
    int code = andante_@NAME@_run(&agent, start, goal, NULL, steps, 64, &trial);
    for (check(code); code == ANDANTE_MORE; check(code)) code = andante_@NAME@_go_on(&agent, steps, 64, &trial);
    printf("%ld moves, cost %.4f in one go\n", (long)trial.moves, trial.cost);

    free(desk);
    free(saved);
    free(mind);
    free((void *)files.plan);
    free((void *)files.map);
@FREES@    return 0;
}
