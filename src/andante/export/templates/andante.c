/* The functions that andante.h declares: they check files, fill in contexts and call the machine code of agents.
 * Written by `andante export`. */
#include "andante.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- machine code, from the objects beside this file -------------------------------------------------------------- */

typedef int32_t code(int64_t *done, void **exception, int64_t context, int64_t episodes, int64_t count, int64_t trail,
                     int64_t room, int64_t times, int64_t timed, int64_t patience);
typedef int32_t mend_code(int64_t *done, void **exception, int64_t context, int64_t most);
@PROTOTYPES@
@LEVELS@

/* --- layouts: docs/explanation/database-files.md ------------------------------------------------------------------ */

/* A world, which is a copy of an image, keeps its seal in the head, behind its kind. */
enum { HEAD_BYTES = 96, LENGTH_AT = 16, KIND_AT = 32, WORLD_SEAL_AT = 48, ENTRY_BYTES = 64, MOST_ARRAYS = 64 };
enum { @SEGMENTS@ };
enum { @MAP_NUMBERS@, MAP_NUMBERS };
enum { @PLAN_NUMBERS@, PLAN_NUMBERS };

typedef struct episode {
@EPISODE@
} episode;

typedef struct mind {
    @MIND_HEAD@;
    episode run;
} mind;

enum { NOWHERE = -1, MOST_MAP_WORDS = @MOST_MAP_WORDS@, AHEAD = @TENDED@, AROUND = @MENDED@, MOST_UNNOTED = @MOST_UNNOTED@, MOST_AT_ONCE = @MOST_AT_ONCE@ };
#define MOST_PROBLEMS INT64_C(@MOST_PROBLEMS@)
#define MAP_CODE INT64_C(@MAP_CODE@)
#define DEFAULT_MOVES INT64_C(@DEFAULT_MOVES@)

static const uint32_t CRC[8][256] = {
@CRC@
};

/* --- helpers ------------------------------------------------------------------------------------------------------ */

static int64_t address(const void *place) { return (int64_t)(uintptr_t)place; }

static int misaligned(const void *place) { return ((uintptr_t)place & 7) != 0; }

static uint32_t read32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t read64(const uint8_t *at) { return read32(at) | (uint64_t)read32(at + 4) << 32; }

static void write64(uint8_t *at, uint64_t value) {
    for (int i = 0; i < 8; i++) at[i] = (uint8_t)(value >> 8 * i);
}

static void copy(uint8_t *to, const uint8_t *from, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i++) to[i] = from[i];
}

static void clear(uint8_t *to, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i++) to[i] = 0;
}

/* The same for much memory that begins at a multiple of 8. Words that are zero are not written to: some systems provide
 * memory only when it is first written to. */
static void clear_used(uint8_t *to, uint64_t bytes) {
    uint64_t *words = (uint64_t *)(void *)to, count = bytes / 8;
    for (uint64_t i = 0; i < count; i++)
        if (words[i] != 0) words[i] = 0;
    clear(to + 8 * count, bytes - 8 * count);
}

/* Continue a CRC-32 with more bytes, eight at a time. CRC[k] is the table for a byte that k others follow. */
static uint32_t continued(uint32_t sum, const uint8_t *data, uint64_t bytes) {
    for (; bytes >= 8; data += 8, bytes -= 8) {
        uint32_t low = sum ^ read32(data), high = read32(data + 4);
        sum = CRC[7][low & 0xFF] ^ CRC[6][low >> 8 & 0xFF] ^ CRC[5][low >> 16 & 0xFF] ^ CRC[4][low >> 24] ^
              CRC[3][high & 0xFF] ^ CRC[2][high >> 8 & 0xFF] ^ CRC[1][high >> 16 & 0xFF] ^ CRC[0][high >> 24];
    }
    while (bytes-- > 0) sum = CRC[0][(sum ^ *data++) & 0xFF] ^ sum >> 8;
    return sum;
}

/* Return the checksum of memory in which `hidden` bytes count as zero, because the checksum itself is stored there. */
static uint32_t checksum(const uint8_t *data, uint64_t bytes, uint64_t at, uint64_t hidden) {
    static const uint8_t zeros[8] = {0};
    if (bytes < at + hidden) at = bytes, hidden = 0;
    uint32_t sum = continued(0xFFFFFFFF, data, at);
    sum = continued(sum, zeros, hidden);
    return continued(sum, data + at + hidden, bytes - at - hidden) ^ 0xFFFFFFFF;
}

uint32_t andante_checksum(const void *data, size_t bytes) {
    return data == NULL ? 0 : checksum((const uint8_t *)data, bytes, 0, 0);
}

size_t andante_agent_bytes(void) { return sizeof(andante_agent); }

const char *andante_error_text(int number) {
    switch (number) {
    case ANDANTE_OK: return "no error";
    case ANDANTE_MORE: return "@MORE@";
    case ANDANTE_FULL: return "@FULL@";
@TEXTS@
    default: return "there is no such code";
    }
}

/* --- seals: a checksum in the memory itself, 0 once it has changed ------------------------------------------------ */

static int64_t *seal_in(const void *memory, uint64_t at) { return (int64_t *)((uintptr_t)memory + at); }

static int64_t seal_of(const void *memory, uint64_t bytes, uint64_t at) {
    return INT64_C(1) << 32 | (int64_t)checksum((const uint8_t *)memory, bytes, at, 8);
}

static void seal(const void *memory, uint64_t bytes, uint64_t at) {
    *seal_in(memory, at) = seal_of(memory, bytes, at);
}

static int check_seal(const void *memory, uint64_t bytes, uint64_t at) {
    int64_t found = *seal_in(memory, at);
    if (found == 0) return ANDANTE_UNSEALED;
    return found == seal_of(memory, bytes, at) ? ANDANTE_OK : ANDANTE_DAMAGED;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

static const int64_t *numbers_of(const void *file) {
    const uint8_t *bytes = (const uint8_t *)file;
    return (const int64_t *)(const void *)(bytes + read64(bytes + HEAD_BYTES + 56));
}

static int is_kind(const uint8_t *file, const char *kind) {
    for (int i = 0; i < 24; i++) {
        if (file[KIND_AT + i] != (uint8_t)kind[i]) return 0;
        if (kind[i] == 0) return 1;
    }
    return 1;
}

/* Check the head and the table of a file, without its contents. */
static int check_head(const void *file, size_t bytes) {
    static const char magic[] = "andante\n";
    const uint8_t *data = (const uint8_t *)file;
    if (file == NULL) return ANDANTE_NULL;
    if (misaligned(file)) return ANDANTE_MISALIGNED;
    for (size_t i = 0; i < 8; i++)
        if (i < bytes && data[i] != (uint8_t)magic[i]) return ANDANTE_NO_FILE;
    if (bytes < HEAD_BYTES) return ANDANTE_CUT_OFF;
    if (read32(data + 8) != ANDANTE_FILE_VERSION) return ANDANTE_VERSION;
    if (read64(data + LENGTH_AT) != bytes) return ANDANTE_CUT_OFF;
    uint32_t arrays = read32(data + 24);
    uint64_t begin = HEAD_BYTES + (uint64_t)ENTRY_BYTES * arrays + read32(data + 28);
    if (arrays == 0 || arrays > MOST_ARRAYS || begin > bytes) return ANDANTE_DAMAGED;
    return ANDANTE_OK;
}

static int check_file(const void *file, size_t bytes) {
    int fault = check_head(file, bytes);
    if (fault != ANDANTE_OK) return fault;
    uint32_t sum = checksum((const uint8_t *)file, bytes, 12, 4);
    return sum == read32((const uint8_t *)file + 12) ? ANDANTE_OK : ANDANTE_DAMAGED;
}

/* Return whether `numbers`, the first array of a file, exists and has this many. */
static int has_numbers(const void *file, size_t bytes, uint64_t count) {
    const uint8_t *entry = (const uint8_t *)file + HEAD_BYTES;
    uint64_t offset = read64(entry + 56);
    return read64(entry + 32) == count && offset % 8 == 0 && offset <= bytes && count * 8 <= bytes - offset;
}

static int is_world(const void *map) { return is_kind((const uint8_t *)map, "world"); }

/* Return whether this many rows of 64-bit words are within a map. */
static int has_rows(size_t bytes, int64_t place, int64_t rows, uint64_t words) {
    uint64_t offset = (uint64_t)place, count = (uint64_t)rows;
    return offset % 8 == 0 && offset <= bytes && count <= bytes && count * words * 8 <= bytes - offset;
}

static int has_context(size_t bytes, int64_t place, int64_t words) {
    return words >= 0 && words <= MOST_MAP_WORDS && has_rows(bytes, place, words, 2);
}

static const int64_t *levels_of(const void *map) {
    return (const int64_t *)(const void *)((const uint8_t *)map + numbers_of(map)[MAP_levels]);
}

/* Return whether the contexts of a map's kernels are within it and fit into `words`: a world has no checksum. */
static int has_contexts(const void *map, size_t bytes) {
    const int64_t *about = numbers_of(map);
    for (int which = MAP_straight; which <= MAP_apart; which += 2)
        if (!has_context(bytes, about[which], about[which + 1])) return 0;
    if (!has_rows(bytes, about[MAP_levels], about[MAP_levels_count], 3)) return 0;
    for (int64_t i = 0; i < about[MAP_levels_count]; i++) {
        const int64_t *one = levels_of(map) + 3 * i;
        if (!has_context(bytes, one[0], one[1]) || one[2] < 0 || one[2] > about[MAP_world_bytes] - 8) return 0;
    }
    return 1;
}

static int check_map(const void *map, size_t bytes) {
    int fault = check_head(map, bytes);
    if (fault != ANDANTE_OK) return fault;
    if (!is_world(map)) {
        if (!is_kind((const uint8_t *)map, "map")) return ANDANTE_KIND;
        if ((fault = check_file(map, bytes)) != ANDANTE_OK) return fault;
    }
    if (!has_numbers(map, bytes, MAP_NUMBERS) || !has_contexts(map, bytes)) return ANDANTE_DAMAGED;
    const int64_t *about = numbers_of(map);
    if (about[MAP_levels_count] > 0 && about[MAP_levels_code] != LEVELS_CODE) return ANDANTE_OTHER_LIBRARY;
    return about[MAP_code] == MAP_CODE ? ANDANTE_OK : ANDANTE_OTHER_LIBRARY;
}

int andante_map_size(const void *map, size_t bytes, int32_t *states, int32_t *width, int32_t *height) {
    int fault = check_map(map, bytes);
    if (fault != ANDANTE_OK) return fault;
    if (states != NULL) *states = (int32_t)numbers_of(map)[MAP_states];
    if (width != NULL) *width = (int32_t)numbers_of(map)[MAP_width];
    if (height != NULL) *height = (int32_t)numbers_of(map)[MAP_height];
    return ANDANTE_OK;
}

static int check_files(const andante_files *files, int64_t code_number, const char *kind, uint64_t count) {
    if (files == NULL) return ANDANTE_NULL;
    int fault = check_file(files->plan, files->plan_bytes);
    if (fault != ANDANTE_OK) return fault;
    if (!is_kind((const uint8_t *)files->plan, kind)) return ANDANTE_KIND;
    if (!has_numbers(files->plan, files->plan_bytes, count)) return ANDANTE_DAMAGED;
    const int64_t *plan = numbers_of(files->plan);
    if (plan[PLAN_code] != code_number || plan[PLAN_words] > ANDANTE_WORDS) return ANDANTE_OTHER_LIBRARY;
    if (plan[PLAN_databases] < 0 || plan[PLAN_databases] > ANDANTE_DATABASES) return ANDANTE_DAMAGED;
    if ((fault = check_map(files->map, files->map_bytes)) != ANDANTE_OK) return fault;
    if (read32((const uint8_t *)files->map + 12) != (uint32_t)plan[PLAN_map]) return ANDANTE_OTHER_MAP;
    if (numbers_of(files->map)[MAP_living] && !is_world(files->map)) return ANDANTE_NO_WORLD;
    for (int64_t i = 0; i < plan[PLAN_databases]; i++) {
        if ((fault = check_file(files->databases[i], files->database_bytes[i])) != ANDANTE_OK) return fault;
        uint32_t sum = read32((const uint8_t *)files->databases[i] + 12);
        if (sum != (uint32_t)plan[PLAN_database_0 + i]) return ANDANTE_OTHER_DATABASE;
    }
    return ANDANTE_OK;
}

/* --- agents ------------------------------------------------------------------------------------------------------- */

static int sizes(const andante_files *files, int64_t code_number, const char *kind, uint64_t count,
                 size_t *mind_bytes, size_t *desk_bytes) {
    int fault = check_files(files, code_number, kind, count);
    if (fault != ANDANTE_OK) return fault;
    if (mind_bytes == NULL || desk_bytes == NULL) return ANDANTE_NULL;
    uint64_t kept = (uint64_t)numbers_of(files->plan)[PLAN_mind_bytes];
    uint64_t used = (uint64_t)numbers_of(files->plan)[PLAN_desk_bytes];
    if (kept > SIZE_MAX || used > SIZE_MAX) return ANDANTE_TOO_LARGE;
    *mind_bytes = (size_t)kept;
    *desk_bytes = (size_t)used;
    return ANDANTE_OK;
}

static const int64_t *words_of(const void *plan) {
    return (const int64_t *)(const void *)((const uint8_t *)plan + numbers_of(plan)[PLAN_context]);
}

/* Check that each word of the context is a number, or the address of something within a segment. */
static int check_words(const andante_files *files) {
    const int64_t *about = numbers_of(files->plan), *word = words_of(files->plan);
    for (int64_t i = 0; i < about[PLAN_words]; i++, word += 3) {
        uint64_t bytes = 0, offset = (uint64_t)word[0], length = (uint64_t)word[2];
        switch (word[1]) {
        case NUMBER: continue;
        case PLAN: bytes = files->plan_bytes; break;
        case MAP: bytes = files->map_bytes; break;
        case MIND: bytes = (uint64_t)about[PLAN_mind_bytes]; break;
        case DESK: bytes = (uint64_t)about[PLAN_desk_bytes]; break;
        default:
            if (word[1] < DATABASE || word[1] - DATABASE >= about[PLAN_databases]) return ANDANTE_DAMAGED;
            bytes = files->database_bytes[word[1] - DATABASE];
        }
        if (offset > bytes || length > bytes - offset) return ANDANTE_DAMAGED;
    }
    return ANDANTE_OK;
}

static void fill_in(andante_agent *agent) {
    const void *segments[DATABASE + ANDANTE_DATABASES] = {NULL, agent->plan, agent->map, agent->mind, agent->desk};
    for (int i = 0; i < ANDANTE_DATABASES; i++) segments[DATABASE + i] = agent->databases[i];
    const int64_t words = numbers_of(agent->plan)[PLAN_words], *word = words_of(agent->plan);
    for (int64_t i = 0; i < words; i++, word += 3)
        agent->context[i] = word[1] == NUMBER ? word[0] : address((const uint8_t *)segments[word[1]] + word[0]);
}

/* Write what the memory of a segment, which is zero, begins with, as a file says: pieces, whose contents are in `data`. */
static void begin_with(uint8_t *memory, int64_t segment, const int64_t *piece, int64_t pieces, const uint8_t *data) {
    for (int64_t i = 0; i < pieces; i++, piece += 5) {
        if (piece[0] != segment) continue;
        for (int64_t done = 0; done < piece[2]; done += piece[4]) { /* what is repeated may be cut off at the end */
            int64_t left = piece[2] - done;
            copy(memory + piece[1] + done, data + piece[3], (uint64_t)(left < piece[4] ? left : piece[4]));
        }
    }
}

static void restart(const andante_agent *agent, int64_t segment, uint8_t *memory, uint64_t bytes) {
    const uint8_t *plan = (const uint8_t *)agent->plan;
    const int64_t *about = numbers_of(plan);
    clear(memory, bytes);
    begin_with(memory, segment, (const int64_t *)(const void *)(plan + about[PLAN_initial]), about[PLAN_initials],
               plan + about[PLAN_data]);
}

/* Forget the goal of the agent, and leave nothing to continue. */
static void leave(mind *own) {
    own->here = own->aim = NOWHERE;
    own->run.goal = own->run.start;
}

static void restart_mind(const andante_agent *agent) {
    mind *own = (mind *)agent->mind;
    restart(agent, MIND, (uint8_t *)agent->mind, (uint64_t)numbers_of(agent->plan)[PLAN_mind_bytes]);
    own->code = numbers_of(agent->plan)[PLAN_code];
    own->plan = read32((const uint8_t *)agent->plan + 12);
    own->news = -1;
    leave(own);
}

/* Minds and crowds begin with the code and the plan that they are for; then comes their seal. */
enum { MIND_SEAL_AT = 16 };

static int check_mind_seal(const int64_t *memory, int64_t code_number, const void *plan) {
    if (memory[0] != code_number || memory[1] != read32((const uint8_t *)plan + 12)) return ANDANTE_OTHER_MIND;
    return check_seal(memory, (uint64_t)numbers_of(plan)[PLAN_mind_bytes], MIND_SEAL_AT);
}

static void seal_mind(const andante_agent *agent) {
    seal(agent->mind, (uint64_t)numbers_of(agent->plan)[PLAN_mind_bytes], MIND_SEAL_AT);
}

/* Check files, and memory for an agent. */
static int check_memory(const andante_files *files, int64_t code_number, const char *kind, uint64_t count,
                        const void *memory, size_t mind_bytes, const void *desk, size_t desk_bytes) {
    size_t mind_needed, desk_needed;
    int fault = sizes(files, code_number, kind, count, &mind_needed, &desk_needed);
    if (fault != ANDANTE_OK) return fault;
    if (memory == NULL || (desk == NULL && desk_needed > 0)) return ANDANTE_NULL;
    if (misaligned(memory) || misaligned(desk)) return ANDANTE_MISALIGNED;
    if (mind_bytes < mind_needed || desk_bytes < desk_needed) return ANDANTE_TOO_SMALL;
    return check_words(files);
}

/* Note where everything is. */
static void put_in(andante_agent *agent, const andante_files *files, void *memory, void *desk) {
    agent->plan = files->plan;
    agent->map = files->map;
    agent->mind = memory;
    agent->desk = desk;
    for (int i = 0; i < ANDANTE_DATABASES; i++) agent->databases[i] = files->databases[i];
    fill_in(agent);
}

/* Check files and memory, and note where everything is. A mind that is not new must be sealed and of this plan. */
static int open_files(andante_agent *agent, const andante_files *files, int64_t code_number, const char *kind,
                      uint64_t count, void *memory, size_t mind_bytes, void *desk, size_t desk_bytes, int is_new) {
    if (agent == NULL) return ANDANTE_NULL;
    agent->plan = NULL;
    int fault = check_memory(files, code_number, kind, count, memory, mind_bytes, desk, desk_bytes);
    if (fault == ANDANTE_OK && !is_new) fault = check_mind_seal((const int64_t *)memory, code_number, files->plan);
    if (fault == ANDANTE_OK) put_in(agent, files, memory, desk);
    return fault;
}

static int check_version(const void *map, int64_t seen);

static int set_up(andante_agent *agent, const andante_files *files, int64_t code_number, void *memory,
                  size_t mind_bytes, void *desk, size_t desk_bytes, int is_new) {
    int fault = open_files(agent, files, code_number, "agent", PLAN_NUMBERS, memory, mind_bytes, desk, desk_bytes,
                           is_new);
    if (fault == ANDANTE_OK && !is_new) fault = check_version(agent->map, ((const mind *)memory)->version);
    if (fault != ANDANTE_OK) {
        if (agent != NULL) agent->plan = NULL;
        return fault;
    }
    restart(agent, DESK, (uint8_t *)desk, (uint64_t)numbers_of(agent->plan)[PLAN_desk_bytes]);
    if (is_new) restart_mind(agent);
    return ANDANTE_OK;
}

/* --- maps --------------------------------------------------------------------------------------------------------- */

/* Write the context of a kernel that works on the map alone; it must have room for MOST_MAP_WORDS. */
static int64_t context_at(const void *map, int64_t place, int64_t count, int64_t *words) {
    const uint8_t *base = (const uint8_t *)map;
    const int64_t *word = (const int64_t *)(const void *)(base + place);
    for (int64_t i = 0; i < count; i++, word += 2)
        words[i] = word[1] == NUMBER ? word[0] : address(base + word[0]);
    return address(words);
}

static int64_t map_context(const void *map, int which, int64_t *words) {
    const int64_t *about = numbers_of(map);
    return context_at(map, about[which], about[which + 1], words);
}

static int64_t number_at(const void *map, int64_t offset) {
    return *(const int64_t *)(const void *)((const uint8_t *)map + offset);
}

/* Update which cells are connected, working on at most this many of them; return how many needed work. */
static int64_t sweep(const void *map, int64_t most) {
    int64_t words[MOST_MAP_WORDS], done = 0;
    void *exception;
    *seal_in(map, WORLD_SEAL_AT) = 0;
    andante_code_sweep(&done, &exception, map_context(map, MAP_sweep, words), most);
    return done;
}

static int64_t world_version(const void *map) {
    return number_at(map, numbers_of(map)[MAP_changes]);
}

/* Let levels of abstraction follow the map, around at most this many cells each; return how many cells these were. */
static int64_t mend(const void *map, int64_t most) {
    const int64_t count = numbers_of(map)[MAP_levels_count], *one = levels_of(map);
    int64_t words[MOST_MAP_WORDS], total = 0;
    for (int64_t i = 0; i < count; i++, one += 3) {
        int64_t done = 0;
        void *exception;
        if (number_at(map, one[2]) == world_version(map)) continue; /* they are up to date */
        *seal_in(map, WORLD_SEAL_AT) = 0;
        MEND(&done, &exception, context_at(map, one[0], one[1], words), most);
        total += done;
    }
    return total;
}

/* Refuse a map with fewer changes than a mind has seen: it is older, or was made again without the mind. */
static int check_version(const void *map, int64_t seen) {
    if (!numbers_of(map)[MAP_living] || world_version(map) >= seen) return ANDANTE_OK;
    return ANDANTE_OLDER_MAP;
}

static int64_t world_news(const void *map) {
    sweep(map, AHEAD);
    mend(map, AROUND);
    return world_version(map) + number_at(map, numbers_of(map)[MAP_sweeps]);
}

static void world_settle(const void *map) {
    while (sweep(map, INT64_C(1) << 20) + mend(map, INT64_C(1) << 20)) {}
}

static int world_apart(const void *map, int64_t state, int64_t goal) {
    int64_t words[MOST_MAP_WORDS], done = 0;
    uint8_t found = 0;
    void *exception;
    andante_code_apart(&done, &exception, map_context(map, MAP_apart, words), address(&state), 1, address(&goal), 1,
                       address(&found), 1);
    return found;
}

static int check_world(const void *world, size_t bytes) {
    int fault = check_map(world, bytes);
    if (fault != ANDANTE_OK) return fault;
    if (is_world(world)) return ANDANTE_OK;
    return numbers_of(world)[MAP_living] ? ANDANTE_NO_WORLD : ANDANTE_FIXED_MAP;
}

int andante_world_bytes(const void *image, size_t image_bytes, size_t *world_bytes) {
    int fault = check_map(image, image_bytes);
    if (fault != ANDANTE_OK) return fault;
    if (world_bytes == NULL) return ANDANTE_NULL;
    if (!numbers_of(image)[MAP_living]) return ANDANTE_FIXED_MAP;
    if ((uint64_t)numbers_of(image)[MAP_world_bytes] > SIZE_MAX) return ANDANTE_TOO_LARGE;
    *world_bytes = (size_t)numbers_of(image)[MAP_world_bytes];
    return ANDANTE_OK;
}

int andante_world_init(void *world, size_t world_bytes, const void *image, size_t image_bytes) {
    int fault = check_map(image, image_bytes);
    if (fault != ANDANTE_OK) return fault;
    if (world == NULL) return ANDANTE_NULL;
    if (misaligned(world)) return ANDANTE_MISALIGNED;
    if (is_world(image)) return ANDANTE_KIND;
    const int64_t *about = numbers_of(image);
    if (!about[MAP_living]) return ANDANTE_FIXED_MAP;
    const uint64_t whole = (uint64_t)about[MAP_world_bytes], room = (uint64_t)about[MAP_room];
    if (world_bytes < whole) return ANDANTE_TOO_SMALL;
    uint8_t *memory = (uint8_t *)world;
    const uint8_t *data = (const uint8_t *)image;
    copy(memory, data, image_bytes);
    write64(memory + LENGTH_AT, whole);
    clear(memory + KIND_AT, 24);
    copy(memory + KIND_AT, (const uint8_t *)"world", 5);
    clear(memory + image_bytes, room - image_bytes);
    clear_used(memory + room, whole - room);
    begin_with(memory + room, MIND, (const int64_t *)(const void *)(data + about[MAP_initial]), about[MAP_initials],
               data + about[MAP_data]);
    return ANDANTE_OK;
}

static int edit(void *world, size_t bytes, int32_t cell, int opened) {
    int fault = check_world(world, bytes);
    if (fault != ANDANTE_OK) return fault;
    if (cell < 0 || cell >= numbers_of(world)[MAP_states]) return ANDANTE_NO_STATE;
    int64_t words[MOST_MAP_WORDS], done = 0, state = cell;
    void *exception;
    *seal_in(world, WORLD_SEAL_AT) = 0;
    int32_t failed =
        andante_code_edit(&done, &exception, map_context(world, MAP_edit, words), address(&state), 1, opened);
    if (world_version(world) % MOST_UNNOTED == 0) mend(world, 0); /* before changes can no longer be looked up */
    return failed ? ANDANTE_FAILED : ANDANTE_OK;
}

int andante_close_cell(void *world, size_t bytes, int32_t cell) { return edit(world, bytes, cell, 0); }

int andante_open_cell(void *world, size_t bytes, int32_t cell) { return edit(world, bytes, cell, 1); }

int andante_settle(void *world, size_t bytes) {
    int fault = check_world(world, bytes);
    if (fault == ANDANTE_OK) world_settle(world);
    return fault;
}

int andante_world_seal(void *world, size_t bytes) {
    int fault = check_world(world, bytes);
    if (fault == ANDANTE_OK) seal(world, bytes, WORLD_SEAL_AT);
    return fault;
}

int andante_world_attach(void *world, size_t world_bytes, const void *image, size_t image_bytes) {
    int fault = check_map(image, image_bytes);
    if (fault == ANDANTE_OK) fault = check_world(world, world_bytes);
    if (fault != ANDANTE_OK) return fault;
    if (is_world(image)) return ANDANTE_KIND;
    if (world_bytes != (uint64_t)numbers_of(image)[MAP_world_bytes] || read32((const uint8_t *)world + 12) != read32((const uint8_t *)image + 12))
        return ANDANTE_OTHER_MAP;
    return check_seal(world, world_bytes, WORLD_SEAL_AT);
}

static int check_state(const void *map, int32_t state) {
    const int64_t *about = numbers_of(map);
    if (state < 0 || state >= about[MAP_states]) return ANDANTE_NO_STATE;
    if (about[MAP_passable] && !((const uint8_t *)map)[about[MAP_passable] + state]) return ANDANTE_BLOCKED;
    return ANDANTE_OK;
}

/* Return whether it is known that two states are not connected. */
static int are_apart(const void *map, int64_t state, int64_t goal) {
    const int64_t *about = numbers_of(map);
    if (about[MAP_living]) return world_apart(map, state, goal);
    const int32_t *label = (const int32_t *)(const void *)((const uint8_t *)map + about[MAP_label]);
    return label[state] != label[goal];
}

static double walk_between(const void *map, int64_t state, int64_t goal) {
    int64_t words[MOST_MAP_WORDS];
    double walked = -1;
    void *exception;
    if (andante_code_straight(&walked, &exception, map_context(map, MAP_straight, words), state, goal, MOST_AT_ONCE))
        return -1;
    return walked;
}

/* --- moving ------------------------------------------------------------------------------------------------------- */

static int check_agent(const andante_agent *agent, int64_t code_number) {
    if (agent == NULL) return ANDANTE_NULL;
    if (agent->plan == NULL || agent->mind == NULL) return ANDANTE_NO_AGENT;
    return ((const mind *)agent->mind)->code == code_number ? ANDANTE_OK : ANDANTE_NO_AGENT;
}

/* Check an agent whose mind is to be changed. */
static int open_agent(const andante_agent *agent, int64_t code_number) {
    int fault = check_agent(agent, code_number);
    if (fault == ANDANTE_OK) ((mind *)agent->mind)->seal = 0;
    return fault;
}

/* The same, and note which changes of the map the agent is going to see. */
static int open_walker(const andante_agent *agent, int64_t code_number) {
    int fault = check_agent(agent, code_number);
    if (fault != ANDANTE_OK) return fault;
    mind *own = (mind *)agent->mind;
    if ((fault = check_version(agent->map, own->version)) != ANDANTE_OK) return fault;
    own->seal = 0;
    if (numbers_of(agent->map)[MAP_living]) own->version = world_version(agent->map);
    return ANDANTE_OK;
}

static int seal_agent(const andante_agent *agent, int64_t code_number) {
    int fault = check_agent(agent, code_number);
    if (fault == ANDANTE_OK) seal_mind(agent);
    return fault;
}

static void begin(episode *row, int64_t start, int64_t goal, double cost, int64_t moves, int64_t expansions, int again,
                  int64_t outcome) {
    clear((uint8_t *)row, sizeof *row);
    row->start = start;
    row->goal = row->aim = goal;
    row->cost_cap = cost;
    row->move_cap = moves;
    row->expansion_cap = expansions;
    row->again = again;
    row->outcome = outcome;
}

/* Check the goal of a new problem, and that there is a number for it. */
static int new_problem(const andante_agent *agent, int64_t goal) {
    const int64_t *about = numbers_of(agent->plan);
    if (about[PLAN_served] && !((const uint8_t *)agent->plan)[about[PLAN_served] + goal]) return ANDANTE_NOT_SERVED;
    if (number_at(agent->mind, about[PLAN_clock]) + 1 >= MOST_PROBLEMS) restart_mind(agent);
    return ANDANTE_OK;
}

static double infinity(void) {
    union { uint64_t bits; double number; } all = {UINT64_C(0x7FF0000000000000)};
    return all.number;
}

/* Return whether the agent discovers the map itself; then nothing about the map is reported to it. */
static int is_sighted(const andante_agent *agent) { return numbers_of(agent->plan)[PLAN_sighted] != 0; }

/* Return whether the agent knows that no path leads from one state to another. */
static int knows_apart(const andante_agent *agent, int64_t state, int64_t goal) {
    return !is_sighted(agent) && are_apart(agent->map, state, goal);
}

/* Look at a map that changes; return whether no path leads to the goal any more. */
static int is_cut_off(const andante_agent *agent, mind *own) {
    if (is_sighted(agent)) return 0;
    int64_t news = world_news(agent->map), before = own->news;
    own->news = news;
    if (news == before) return 0;
    const episode *row = &own->run;
    int64_t state = own->here, goal = own->aim;
    if (row->aim != row->goal && are_apart(agent->map, state, row->aim)) leave(own);
    return are_apart(agent->map, state, goal);
}

static void no_path(andante_move *move) {
    clear((uint8_t *)move, sizeof *move);
    move->to = ANDANTE_UNREACHABLE;
}

static int make_move(const andante_agent *agent, int64_t code_number, code *drive, int32_t state, int32_t goal,
                     andante_move *move) {
    int fault = open_walker(agent, code_number);
    if (fault != ANDANTE_OK) return fault;
    if (move == NULL) return ANDANTE_NULL;
    mind *own = (mind *)agent->mind;
    episode *row = &own->run;
    int living = numbers_of(agent->map)[MAP_living] != 0, goes_on = state == own->here && goal == own->aim;
    if ((fault = check_state(agent->map, state)) == ANDANTE_OK) fault = check_state(agent->map, goal);
    if (fault == ANDANTE_BLOCKED && goes_on && is_sighted(agent)) /* it has not seen yet that its goal is closed */
        fault = check_state(agent->map, state);
    if (fault == ANDANTE_BLOCKED && living) { /* the cell of the agent or of its goal was closed */
        if (goes_on && !is_sighted(agent)) {
            is_cut_off(agent, own);
            own->here = NOWHERE; /* once it opens, a new trial begins */
        } else {
            leave(own);
        }
        no_path(move);
        return ANDANTE_OK;
    }
    if (fault != ANDANTE_OK) return fault;
    if (living && goes_on && is_cut_off(agent, own)) {
        own->here = NOWHERE;
        no_path(move);
        return ANDANTE_OK;
    }
    if (state == own->here && goal == own->aim) { /* unless is_cut_off has let it leave */
        row->outcome = ANDANTE_WALKING;
        row->state = state;
        row->cost = row->learned = 0;
        row->expanded = row->touched = row->stored = 0;
    } else {
        if (state == goal) {
            clear((uint8_t *)move, sizeof *move);
            move->to = state;
            return ANDANTE_OK;
        }
        if (living && !is_sighted(agent)) world_news(agent->map);
        if (knows_apart(agent, state, goal)) {
            no_path(move);
            return ANDANTE_OK;
        }
        int again = goal == own->aim && row->aim == row->goal && !numbers_of(agent->plan)[PLAN_anchored];
        if (!again && (fault = new_problem(agent, goal)) != ANDANTE_OK) return fault;
        leave(own);
        begin(row, state, goal, infinity(), INT64_MAX, INT64_MAX, again, ANDANTE_WAITING);
        own->aim = goal;
    }
    int64_t done = 0;
    void *exception;
    int32_t failed = drive(&done, &exception, address(agent->context), address(row), 1, 0, 0, 0, 0, 1);
    own->here = failed || done ? (int64_t)NOWHERE : row->state;
    if (failed || done < 0) return ANDANTE_FAILED;
    clear((uint8_t *)move, sizeof *move);
    move->to = (int32_t)row->state;
    if (row->outcome == ANDANTE_OUTCOME_STUCK) move->to = ANDANTE_STUCK;
    if (row->outcome == ANDANTE_OUTCOME_UNREACHABLE) move->to = ANDANTE_UNREACHABLE;
    move->cost = row->cost;
    move->expanded = row->expanded;
    move->touched = row->touched;
    move->learned = row->learned;
    move->stored = row->stored;
    return ANDANTE_OK;
}

static int move_goal(const andante_agent *agent, int64_t code_number, int32_t goal, int *keeps) {
    int fault = open_agent(agent, code_number);
    if (fault != ANDANTE_OK) return fault;
    if (keeps == NULL) return ANDANTE_NULL;
    if ((fault = check_state(agent->map, goal)) != ANDANTE_OK) return fault;
    mind *own = (mind *)agent->mind;
    if (own->aim == NOWHERE) return ANDANTE_NO_GOAL;
    *keeps = 1;
    if (goal == own->aim) return ANDANTE_OK;
    double walked = numbers_of(agent->plan)[PLAN_pursues] ? walk_between(agent->map, goal, own->aim) : -1;
    if (walked < 0 || walked == infinity() || own->here == goal) {
        leave(own);
        *keeps = 0;
        return ANDANTE_OK;
    }
    own->run.goal = own->aim = goal;
    own->news = -1;
    return ANDANTE_OK;
}

static int continue_run(const andante_agent *agent, int64_t code_number, code *drive, andante_step *steps, size_t room,
                        andante_trial *trial) {
    int fault = open_walker(agent, code_number);
    if (fault != ANDANTE_OK) return fault;
    if (trial == NULL || (steps == NULL && room > 0)) return ANDANTE_NULL;
    mind *own = (mind *)agent->mind;
    episode *row = &own->run;
    if (own->aim != NOWHERE || row->goal == row->start) return ANDANTE_NO_GOAL;
    int64_t before = row->moves, done = 1;
    void *exception;
    if (numbers_of(agent->map)[MAP_living] && row->outcome == ANDANTE_WALKING && before > 0) { /* it may have changed */
        world_news(agent->map);
        if (knows_apart(agent, row->state, row->goal)) row->outcome = ANDANTE_OUTCOME_UNREACHABLE;
    }
    if (row->outcome <= ANDANTE_WALKING &&
        drive(&done, &exception, address(agent->context), address(row), 1, address(steps), (int64_t)room, 0, 0,
              INT64_MAX))
        return ANDANTE_FAILED;
    if (done < 0) return ANDANTE_FAILED;
    trial->outcome = row->outcome;
    trial->state = row->outcome == ANDANTE_OUTCOME_UNREACHABLE && row->moves == 0 ? row->start : row->state;
    trial->steps = room > 0 ? row->moves - before : 0;
    trial->cost = row->cost;
    trial->moves = row->moves;
    trial->expanded = row->expanded;
    trial->touched = row->touched;
    trial->max_expanded = row->max_expanded;
    trial->learned = row->learned;
    trial->stored = row->stored;
    return done ? ANDANTE_OK : ANDANTE_MORE;
}

static int start_run(const andante_agent *agent, int64_t code_number, code *drive, int32_t start, int32_t goal,
                     const andante_limits *limits, andante_step *steps, size_t room, andante_trial *trial) {
    int fault = open_walker(agent, code_number);
    if (fault != ANDANTE_OK) return fault;
    if (trial == NULL || (steps == NULL && room > 0)) return ANDANTE_NULL;
    if ((fault = check_state(agent->map, start)) != ANDANTE_OK) return fault;
    if ((fault = check_state(agent->map, goal)) != ANDANTE_OK) return fault;
    if (start == goal) return ANDANTE_SAME;
    double cost = infinity();
    int64_t moves = DEFAULT_MOVES, expansions = INT64_MAX;
    if (limits != NULL) {
        if (!(limits->cost >= 0) || limits->moves < 0 || limits->expansions < 0) return ANDANTE_BAD_LIMIT;
        if (limits->cost > 0) cost = limits->cost;
        moves = limits->moves > 0 ? limits->moves : INT64_MAX;
        if (limits->expansions > 0) expansions = limits->expansions;
    }
    if (numbers_of(agent->map)[MAP_living]) world_settle(agent->map);
    if ((fault = new_problem(agent, goal)) != ANDANTE_OK) return fault;
    mind *own = (mind *)agent->mind;
    leave(own);
    begin(&own->run, start, goal, cost, moves, expansions, 0,
          knows_apart(agent, start, goal) ? ANDANTE_OUTCOME_UNREACHABLE : ANDANTE_WAITING);
    return continue_run(agent, code_number, drive, steps, room, trial);
}

static int forget(const andante_agent *agent, int64_t code_number) {
    int fault = open_agent(agent, code_number);
    if (fault == ANDANTE_OK) leave((mind *)agent->mind);
    return fault;
}
@CROWD@
/* --- agents by name ----------------------------------------------------------------------------------------------- */
@AGENTS@
#ifdef __cplusplus
}
#endif
