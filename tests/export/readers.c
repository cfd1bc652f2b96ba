/* Call the readers of docs/explanation/database-files.md, which are put before this file: readers KIND FILE [IMAGE]. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int32_t width;

static double octile(int32_t one, int32_t other) {
    double x = abs(one % width - other % width), y = abs(one / width - other / width);
    return x > y ? x + (sqrt(2) - 1) * y : y + (sqrt(2) - 1) * x;
}

static double farther(int32_t one, int32_t other, int32_t goal) { return octile(one, goal) - octile(other, goal); }

static void *whole(const char *path) {
    static uint64_t memory[2][1 << 19];
    static int files = 0;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL || fread(memory[files], 1, sizeof memory[0], stream) == 0) exit(1);
    fclose(stream);
    return memory[files++];
}

/* Return the greedy move: the lowest cost plus heuristic distance, and among equals the most or the least expensive. */
static int greedy(const void *image, int32_t state, int32_t goal, int code) {
    int best = -1;
    double least = INFINITY, cost = 0;
    for (int move = 0; moved(image, state, move) >= 0; move++) {
        int32_t to = (int32_t)moved(image, state, move);
        double price = octile(state, to), all = price + octile(to, goal);
        int same = fabs(all - least) < 1e-9;
        if ((!same && all < least) || (same && (code == 60 ? price > cost : price < cost)))
            best = move, least = all, cost = price;
    }
    return best;
}

int main(int count, char **arguments) {
    const char *kind = arguments[1];
    void *file = whole(arguments[2]), *image = count > 3 ? whole(arguments[3]) : NULL;
    const int64_t *numbers = array_of(image != NULL ? image : file, "numbers");
    int32_t start, goal;
    if (image != NULL || strcmp(kind, "map") == 0) width = (int32_t)numbers[1];
    if (strcmp(kind, "plan") == 0) {
        static char segments[16][1];
        const void *bases[16];
        for (int i = 0; i < 16; i++) bases[i] = segments[i];
        const int64_t *context = array_of(file, "context");
        for (int64_t i = 0; i < numbers[1]; i++) {
            const void *place = pointed_to(file, i, bases);
            const char *base = bases[context[3 * i + 1]];
            printf("%lld %lld\n", (long long)context[3 * i + 1],
                   (long long)(place == NULL ? context[3 * i] : (const char *)place - base));
        }
        return 0;
    }
    float features[11];
    while (strcmp(kind, "depth-tree") == 0) {
        for (int i = 0; i < 11; i++)
            if (scanf("%f", &features[i]) != 1) return 0;
        printf("%d\n", depth_for(file, features));
    }
    while (scanf("%d %d", &start, &goal) == 2) {
        if (strcmp(kind, "map") == 0) printf("%lld\n", (long long)moved(file, start, goal));
        if (strcmp(kind, "pattern") == 0) printf("%d\n", subgoal_of(file, start, goal));
        if (strcmp(kind, "regions") == 0) {
            int here = region_of(file, start), there = region_of(file, goal);
            printf("%d %d %d\n", here, there, here == there ? here : next_region(file, here, there));
        }
        if (strcmp(kind, "subgoals") == 0) {
            double point[] = {start % width, start / width, goal % width, goal / width};
            printf("%lld\n", (long long)record_of(file, 1, start, goal, point));
        }
        if (strcmp(kind, "moves") == 0) {
            int moves = 0;
            while (moved(image, start, moves) >= 0) moves++;
            int code = code_of(file, start, goal, moves, farther);
            int move = code == 60 || code == 61 ? greedy(image, start, goal, code) : code;
            printf("%lld\n", code == 62 ? -1LL : (long long)moved(image, start, move));
        }
    }
    return array_of(file, "nothing") != NULL;
}
