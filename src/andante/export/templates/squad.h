
/* @ALGORITHM@ */
ANDANTE_API int andante_@NAME@_crowd_bytes(const andante_files *files, size_t *bytes);
ANDANTE_API int andante_@NAME@_crowd_init(andante_crowd *crowd, const andante_files *files, void *memory, size_t bytes);
ANDANTE_API int andante_@NAME@_crowd_attach(andante_crowd *crowd, const andante_files *files, void *memory,
                                            size_t bytes);
ANDANTE_API int andante_@NAME@_crowd_add(andante_crowd *crowd, int32_t start, int32_t goal, double priority,
                                         int32_t *unit);
ANDANTE_API int andante_@NAME@_crowd_send(andante_crowd *crowd, int32_t unit, int32_t goal);
ANDANTE_API int andante_@NAME@_crowd_put(andante_crowd *crowd, int32_t unit, int32_t state);
ANDANTE_API int andante_@NAME@_crowd_remove(andante_crowd *crowd, int32_t unit);
ANDANTE_API int andante_@NAME@_crowd_unit(const andante_crowd *crowd, int32_t unit, andante_unit *about);
ANDANTE_API int andante_@NAME@_crowd_cells(const andante_crowd *crowd, const int32_t **cells, int32_t *count);
ANDANTE_API int andante_@NAME@_crowd_tick(andante_crowd *crowd, const andante_budget *budget, andante_tick *tick);
ANDANTE_API int andante_@NAME@_crowd_seal(andante_crowd *crowd);
ANDANTE_API int andante_@NAME@_crowd_grow(andante_crowd *crowd, const andante_files *files, void *memory, size_t bytes);
