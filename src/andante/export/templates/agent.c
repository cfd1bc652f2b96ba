
#define CODE_@NAME@ INT64_C(@CODE@) /* @ALGORITHM@ */

int andante_@NAME@_bytes(const andante_files *files, size_t *mind_bytes, size_t *desk_bytes) {
    return sizes(files, CODE_@NAME@, "agent", PLAN_NUMBERS, mind_bytes, desk_bytes);
}

int andante_@NAME@_init(andante_agent *agent, const andante_files *files, void *mind, size_t mind_bytes, void *desk,
                        size_t desk_bytes) {
    return set_up(agent, files, CODE_@NAME@, mind, mind_bytes, desk, desk_bytes, 1);
}

int andante_@NAME@_attach(andante_agent *agent, const andante_files *files, void *mind, size_t mind_bytes, void *desk,
                          size_t desk_bytes) {
    return set_up(agent, files, CODE_@NAME@, mind, mind_bytes, desk, desk_bytes, 0);
}

int andante_@NAME@_move(andante_agent *agent, int32_t state, int32_t goal, andante_move *move) {
    return make_move(agent, CODE_@NAME@, andante_code_@OWNER@, state, goal, move);
}

int andante_@NAME@_retarget(andante_agent *agent, int32_t goal, int *keeps) {
    return move_goal(agent, CODE_@NAME@, goal, keeps);
}

int andante_@NAME@_run(andante_agent *agent, int32_t start, int32_t goal, const andante_limits *limits,
                       andante_step *steps, size_t room, andante_trial *trial) {
    return start_run(agent, CODE_@NAME@, andante_code_@OWNER@, start, goal, limits, steps, room, trial);
}

int andante_@NAME@_go_on(andante_agent *agent, andante_step *steps, size_t room, andante_trial *trial) {
    return continue_run(agent, CODE_@NAME@, andante_code_@OWNER@, steps, room, trial);
}

int andante_@NAME@_forget(andante_agent *agent) { return forget(agent, CODE_@NAME@); }

int andante_@NAME@_seal(andante_agent *agent) { return seal_agent(agent, CODE_@NAME@); }
