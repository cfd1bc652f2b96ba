
extern march_code andante_march_@OWNER@;
extern held_code andante_held_@OWNER@;
extern release_code @RELEASES@;

static const squad_code SQUAD_@NAME@ = {INT64_C(@CODE@), andante_march_@OWNER@, andante_release_@OWNER@,
                                        @RELEASE_TEAMS@, andante_held_@OWNER@};

int andante_@NAME@_crowd_bytes(const andante_files *files, size_t *bytes) {
    size_t nothing;
    return sizes(files, SQUAD_@NAME@.number, "crowd", CROWD_NUMBERS, bytes, &nothing);
}

int andante_@NAME@_crowd_init(andante_crowd *crowd, const andante_files *files, void *memory, size_t bytes) {
    return set_up_crowd(crowd, files, SQUAD_@NAME@.number, memory, bytes, 1);
}

int andante_@NAME@_crowd_attach(andante_crowd *crowd, const andante_files *files, void *memory, size_t bytes) {
    return set_up_crowd(crowd, files, SQUAD_@NAME@.number, memory, bytes, 0);
}

int andante_@NAME@_crowd_add(andante_crowd *crowd, int32_t start, int32_t goal, double priority, int32_t *unit) {
    return add_unit(crowd, &SQUAD_@NAME@, start, goal, priority, unit);
}

int andante_@NAME@_crowd_send(andante_crowd *crowd, int32_t unit, int32_t goal) {
    return send_unit(crowd, &SQUAD_@NAME@, unit, goal);
}

int andante_@NAME@_crowd_put(andante_crowd *crowd, int32_t unit, int32_t state) {
    return put_unit(crowd, &SQUAD_@NAME@, unit, state);
}

int andante_@NAME@_crowd_remove(andante_crowd *crowd, int32_t unit) { return remove_unit(crowd, &SQUAD_@NAME@, unit); }

int andante_@NAME@_crowd_unit(const andante_crowd *crowd, int32_t unit, andante_unit *about) {
    return look_at_unit(crowd, &SQUAD_@NAME@, unit, about);
}

int andante_@NAME@_crowd_cells(const andante_crowd *crowd, const int32_t **cells, int32_t *count) {
    return look_at_cells(crowd, &SQUAD_@NAME@, cells, count);
}

int andante_@NAME@_crowd_tick(andante_crowd *crowd, const andante_budget *budget, andante_tick *tick_) {
    return tick(crowd, &SQUAD_@NAME@, budget, tick_);
}

int andante_@NAME@_crowd_seal(andante_crowd *crowd) { return seal_crowd(crowd, SQUAD_@NAME@.number); }

int andante_@NAME@_crowd_grow(andante_crowd *crowd, const andante_files *files, void *memory, size_t bytes) {
    return grow_crowd(crowd, &SQUAD_@NAME@, files, memory, bytes);
}
