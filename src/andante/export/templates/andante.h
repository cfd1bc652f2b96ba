/* @LIBRARY@: agents of Andante as a C library. Written by `andante export`; C99 and C++.
 *
 * The library does not allocate memory, start threads or call the system, and has no global variables. All memory is
 * the caller's. Only one thread at a time may use an agent. Different threads may use different agents if these share
 * neither a desk nor a map that changes.
 *
 *   map        the file MAP.image, as it is, at an address that is a multiple of 8
 *   plan       the file MAP.AGENT.plan, likewise: how this agent's memory is laid out on this map
 *   databases  the files that the agent looks things up in, likewise, in the order that README.md lists
 *   mind       what an agent keeps from move to move; it contains no addresses, so it can be saved and restored with
 *              memcpy, once it is sealed
 *   desk       scratch memory for one move; agents with the same plan in the same thread can share it
 *
 * States are numbered from 0: on a grid, the cell in column x and row y is y * width + x.
 */
#ifndef ANDANTE_H
#define ANDANTE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ANDANTE_API
#if defined(_WIN32) && defined(ANDANTE_BUILD_SHARED)
#define ANDANTE_API __declspec(dllexport)
#elif defined(__wasm__) || defined(__GNUC__)
#define ANDANTE_API __attribute__((visibility("default")))
#else
#define ANDANTE_API
#endif
#endif

#define ANDANTE_FILE_VERSION @FILE_VERSION@ /* of images, plans and databases */
#define ANDANTE_DATABASES @DATABASES@ /* the most that an agent can have */
#define ANDANTE_WORDS @WORDS@ /* of the longest context in this library */

/* What functions return; andante_error_text has a sentence for each. */
enum {
    ANDANTE_OK = 0,
    ANDANTE_MORE = @MORE_CODE@, /* run: @MORE@ */
    ANDANTE_FULL = @FULL_CODE@, /* tick: @FULL@ */
@CODES@
};

/* Instead of a state to move to. */
enum { ANDANTE_STUCK = @STUCK@, ANDANTE_UNREACHABLE = @UNREACHABLE@ };

/* How a run ended. */
enum {
@OUTCOMES@
};

/* The files that an agent needs, as read or mapped. */
typedef struct andante_files {
    const void *plan;
    size_t plan_bytes;
    const void *map; /* an image, or a world (below) */
    size_t map_bytes;
    const void *databases[ANDANTE_DATABASES];
    size_t database_bytes[ANDANTE_DATABASES];
} andante_files;

/* An agent: where its segments are, and the context that its code reads, which follows from them and the plan. To
 * save an agent, copy its mind, not this: attach makes it again, wherever the memory is then. */
typedef struct andante_agent {
    const void *plan, *map, *databases[ANDANTE_DATABASES];
    void *mind, *desk;
    int64_t context[ANDANTE_WORDS];
} andante_agent;

/* One move, and what the decision cost. `to` is the next state, or the same state to wait, or ANDANTE_STUCK or
 * ANDANTE_UNREACHABLE. */
typedef struct andante_move {
@MOVE@
} andante_move;

/* When to give up a run. 0 means no limit. */
typedef struct andante_limits {
@LIMITS@
} andante_limits;

/* A step of a run. */
typedef struct andante_step {
@STEP@
} andante_step;

/* How far a run is: its state, how many steps this call has written, and sums over the run so far. */
typedef struct andante_trial {
@TRIAL@
} andante_trial;

/* Return sizeof(andante_agent), which differs between libraries, for languages that do not read this header. */
ANDANTE_API size_t andante_agent_bytes(void);

/* A sentence about what a function returned. */
ANDANTE_API const char *andante_error_text(int code);

/* Return the CRC-32 of this many bytes, for data of your own; 0 for NULL. */
ANDANTE_API uint32_t andante_checksum(const void *data, size_t bytes);

/* Check a map image, and return its size. Pointers for results may be NULL. */
ANDANTE_API int andante_map_size(const void *map, size_t bytes, int32_t *states, int32_t *width, int32_t *height);

/* Each agent of this library has these functions:
 *
 * bytes     check the files, and return how much memory the agent needs.
 * init      check the files, and make an agent that knows nothing. The memory may contain anything. Takes time in
 *           proportion to the map, the databases and the agent's memory, as attach and seal do. A move does not, if the
 *           algorithm is real-time. If init or attach fails, so does every call with this agent.
 * attach    the same for a mind that was restored from a saved game, or moved. It must have been sealed. A mind that is
 *           damaged, or belongs to another agent or plan, is refused.
 * move      make one move from `state` towards `goal`. With the goal of the last call the agent continues; pushed to
 *           another state it replans, and keeps what it has learned; with another goal it begins a new problem.
 * retarget  move the goal of `move`; `keeps` says whether the agent keeps what it knows. The next `move` names the goal.
 * run       walk from `start` to `goal`. Steps are written while there is room for them (NULL, 0: none are written). When
 *           the room is used up, run returns ANDANTE_MORE, and `go_on` continues.
 * forget    let the next `move` begin a new problem.
 * seal      write a checksum into the mind, before it is copied into a saved game, or moved; `attach` checks it. The
 *           agent can continue. Its next move breaks the seal of its mind, not that of the copy.
 */
@AGENTS@

/* A map that changes: a copy of its image in memory of the caller. Give it to agents instead of the image. world_bytes
 * says how much memory it takes: as much as the image, or more if agents plan over levels of abstraction, which are
 * updated there as the map changes. It is enough for all that they may ever need. Usually little of it is used, and
 * memory from calloc is not written to before it is used.
 *
 * close_cell and open_cell return ANDANTE_OK also if the cell was closed or open already. Agents react to changes in
 * their next move. Before each move, part of the work that changes cause is done: finding out which cells are still
 * connected, and repairing levels around changed cells. settle does the rest immediately.
 *
 * It holds no address. To save or move it, call world_seal, which writes a checksum into it, and copy it. To load it,
 * copy it back, call world_attach, which refuses one that is damaged, was not sealed or was made from another image,
 * and attach the agents again. The next move or change breaks the seal, not that of the copy. Restore a world and the
 * minds of its agents together, and after world_init call init for its agents: a mind that has seen more changes than
 * its world has had is refused (ANDANTE_OLDER_MAP). */
ANDANTE_API int andante_world_bytes(const void *image, size_t image_bytes, size_t *world_bytes);
ANDANTE_API int andante_world_init(void *world, size_t world_bytes, const void *image, size_t image_bytes);
ANDANTE_API int andante_close_cell(void *world, size_t bytes, int32_t cell);
ANDANTE_API int andante_open_cell(void *world, size_t bytes, int32_t cell);
ANDANTE_API int andante_settle(void *world, size_t bytes);
ANDANTE_API int andante_world_seal(void *world, size_t bytes);
ANDANTE_API int andante_world_attach(void *world, size_t world_bytes, const void *image, size_t image_bytes);
@CROWD@
#ifdef __cplusplus
}
#endif

#endif
