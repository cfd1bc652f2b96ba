
/* @ALGORITHM@ */
ANDANTE_API int andante_@NAME@_bytes(const andante_files *files, size_t *mind_bytes, size_t *desk_bytes);
ANDANTE_API int andante_@NAME@_init(andante_agent *agent, const andante_files *files, void *mind, size_t mind_bytes,
                                    void *desk, size_t desk_bytes);
ANDANTE_API int andante_@NAME@_attach(andante_agent *agent, const andante_files *files, void *mind, size_t mind_bytes,
                                      void *desk, size_t desk_bytes);
ANDANTE_API int andante_@NAME@_move(andante_agent *agent, int32_t state, int32_t goal, andante_move *move);
ANDANTE_API int andante_@NAME@_retarget(andante_agent *agent, int32_t goal, int *keeps);
ANDANTE_API int andante_@NAME@_run(andante_agent *agent, int32_t start, int32_t goal, const andante_limits *limits,
                                   andante_step *steps, size_t room, andante_trial *trial);
ANDANTE_API int andante_@NAME@_go_on(andante_agent *agent, andante_step *steps, size_t room, andante_trial *trial);
ANDANTE_API int andante_@NAME@_forget(andante_agent *agent);
ANDANTE_API int andante_@NAME@_seal(andante_agent *agent);
