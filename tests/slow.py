"""What `make test` leaves to `make test FULL=1`, which CI runs: tests that take seconds, most of them to compile a loop.

An algorithm's step is compiled once more for each loop around it and each layout of what it reads: for rows of arcs, for
maps that it discovers, for crowds, for maps that change beside a database. `make test` compiles every algorithm on maps
that it knows, and the other loops for a few of them, named here. What they have in common with the rest is tested there.
"""

from __future__ import annotations

from collections.abc import Collection

#: Tests by name, each with those of its cases that `make test` keeps: any that has one of these among its parameters.
SLOW: dict[str, tuple[str, ...]] = {
    # Crowds: one loop per algorithm.
    "tests/episode/test_living_crowd.py::test_units_walk_legally_and_arrive_when_the_map_rests": ("lrta",),
    "tests/episode/test_living_crowd.py::test_units_catch_goals_that_move_more_slowly": ("lrta", "rta"),
    "tests/episode/test_living_crowd.py::test_a_unit_walks_as_an_agent_while_their_database_is_mended": (),
    "tests/episode/test_living_crowd.py::test_units_with_databases_search_where_these_are_stale": (),
    "tests/episode/test_living_crowd.py::test_memory_for_searching_is_taken_by_those_who_search_and_given_back": (),
    "tests/episode/test_living_crowd.py::test_what_was_lost_in_a_step_that_asks_for_an_annex_is_noticed": (),
    "tests/episode/test_living_crowd.py::test_units_that_are_put_elsewhere_while_they_search_do_not_search_for_each_other": (),
    "tests/episode/test_living_crowd.py::test_nothing_is_left_to_compile": ("lrta",),
    "tests/episode/test_bodies.py::test_states_with_many_moves_are_not_ranked": (),
    "tests/episode/test_crowd.py::test_minds_are_small_on_a_large_map": (),
    "tests/episode/test_crowd.py::test_slots_are_used_again_in_a_team_that_lives_on": (),
    "tests/episode/test_crowd.py::test_a_team_of_one_walks_as_alone_and_teams_come_and_go": (),
    "tests/episode/test_crowd.py::test_a_crowd_on_a_graph": (),
    "tests/episode/test_crowd.py::test_more_teams_than_there_was_room_for": (),
    "tests/episode/test_crowd.py::test_after_a_wrong_move_the_crowd_is_sound": ("{}",),
    "tests/episode/test_waits.py::test_in_expansions": (),
    "tests/episode/test_waits.py::test_in_microseconds": (),
    "tests/cli/test_advise.py::test_units_of_a_crowd_get_an_answer_and_a_page": (),
    "tests/benchmarks/test_benchmarks.py::TestCrowds::test_all_are_measured": (),
    "tests/selection/test_crowds.py::test_the_answer_is_a_crowd_that_can_be_pasted": (),
    "tests/selection/test_crowds.py::test_crowds_that_were_made_smaller_for_lack_of_time_are_named": (),
    "tests/selection/test_crowds.py::test_memory_counts_units_desks_and_databases": (),
    "tests/cli/test_crowd.py::test_what_units_use_if_nothing_is_said": (),
    "tests/cli/test_crowd.py::test_units_with_bodies_and_units_that_learn_together": (),
    "tests/episode/test_waits.py::test_budgets_of_both_kinds_by_turns": (),
    "tests/episode/test_waits.py::test_the_first_move_may_take_very_long": (),
    "tests/episode/test_crowd.py::test_a_unit_put_where_it_can_walk_again_joins_its_team": (),
    "tests/contract/test_register.py::test_an_agent_whose_mind_is_on_its_desk_is_caught_in_a_crowd": (),
    "docs/how-to/living-maps.md::living-maps.md": (),
    # Maps that are discovered: one loop per algorithm.
    "tests/episode/test_discovery.py::test_every_agent_that_senses_arrives_and_never_walks_through_a_wall": (
        "astar",
        "lrta",
    ),
    "tests/episode/test_discovery.py::test_agents_that_look_one_move_ahead_do_not_miss_the_map": ("lrta",),
    "tests/episode/test_discovery.py::test_a_sliced_search_begins_again_at_most_once_for_each_wall": (),
    "tests/episode/test_discovery.py::test_with_the_whole_map_in_sight_it_is_as_good_as_known": ("astar",),
    "tests/episode/test_discovery.py::test_nothing_leaks_from_one_problem_into_the_next": ("astar",),
    "tests/episode/test_discovery.py::test_who_watches_is_told_which_walls_come_into_sight": ("astar",),
    "tests/episode/test_discovery.py::test_a_trial_that_discovers_a_wall_is_not_the_last": ("astar", "lrta"),
    "tests/episode/test_discovery.py::test_an_agent_whose_goal_is_walled_off_learns_that_there_is_no_way": (
        "astar",
        "lrta",
    ),
    "tests/episode/test_discovery.py::test_a_goal_that_proves_to_be_blocked_is_given_up_at_sight": ("astar", "lrta"),
    "tests/episode/test_move.py::test_with_sight_it_senses": (),
    "tests/selection/test_advise.py::test_on_maps_that_change_it_is_said_what_the_numbers_are_about": (),
    "tests/contract/test_living.py::test_agents_with_sight_learn_of_changes_when_they_see_them": ("astar", "lrta"),
    "tests/contract/test_register.py::test_an_agent_that_walks_through_walls_it_could_see_is_caught": (),
    "tests/agents/test_prlrts_twin.py::test_on_an_unknown_map": (),
    "docs/algorithms/prlrts.md::prlrts.md": (),
    # Databases on maps that change.
    "tests/contract/test_living.py::test_agents_that_cannot_follow_search_where_what_they_know_is_stale": (),
    # Rows of arcs.
    "tests/contract/test_one_way.py::test_agents_with_databases_arrive_where_moves_cannot_be_taken_back": (),
    "tests/agents/test_flrta.py::test_several_arcs_between_two_states_are_one_supporter": (),
    "tests/agents/test_flrta.py::test_does_the_same_on_rows_of_arcs": (),
    "tests/agents/test_lrts.py::test_it_does_the_same_on_larger_maps_in_either_layout": (),
    "tests/agents/test_lss.py::test_values_that_weights_made_inconsistent_do_no_harm": (),
    "tests/agents/test_lss.py::test_says_so_when_all_that_can_be_reached_was_expanded": (),
    "tests/agents/test_lss.py::test_a_dead_end_is_known_for_what_it_is": (),
    "tests/agents/test_rta.py::test_equals_its_twin_on_maps_in_both_layouts": (),
    "tests/agents/test_rtaa.py::test_says_so_when_all_that_can_be_reached_was_expanded": (),
    "tests/agents/test_plrta.py::test_arrives_however_far_apart_costs_are_in_as_many_moves": (),
    "tests/offline/test_pattern.py::test_a_graph_that_is_no_map": (),
    "tests/offline/test_regions.py::test_all_is_right_on_graphs": (),
    "tests/offline/test_regions.py::test_a_region_may_have_more_arcs_than_a_byte_can_tell_apart": (),
    "tests/agents/test_prlrts.py::test_landmarks_give_a_graph_places": (),
    "tests/agents/test_tba.py::test_equals_the_algorithm_of_the_paper_on_graphs": (),
    "tests/agents/test_tba.py::test_does_the_same_on_rows_of_arcs": (),
    "tests/offline/test_depth_tree.py::test_graphs_will_do_as_well": (),
    "tests/offline/test_depth_tree.py::test_the_walks_are_those_of_the_agents": ("False",),
    # Other combinations of databases.
    "tests/agents/test_dlrta.py::test_an_agent_forgets_the_last_problem": (),
    "tests/agents/test_dlrta.py::test_a_database_for_some_goals_serves_these_as_one_for_all_does_and_no_others": (
        "dlrta",
    ),
    # Processes of their own, which begin with importing and compiling.
    "tests/test_new_agent.py::test_the_skeleton_passes_the_contract_and_its_own_test": (),
    "tests/test_docs.py::test_what_is_written_from_the_code_is_up_to_date": ("reference",),
    "tests/test_agent.py::test_two_algorithms_in_one_file_do_not_share_machine_code": (),
    "tests/test_agent.py::test_what_an_installed_package_brings_is_known_to_every_command": (),
    "tests/test_agent.py::test_kinds_from_elsewhere_are_known_to_whoever_lists_builds_or_loads": (),
    "tests/test_binding.py::test_bundles_of_the_same_name_are_told_apart_in_the_cache_and_edits_count": (),
    "tests/test_kernel.py::test_kernels_within_kernels_can_print": (),
    "tests/test_kernel.py::test_a_damaged_cache_is_mended": (),
    "tests/test_kernel.py::test_agents_do_the_same_with_and_without_the_compiler": (),
    "tests/test_kernel.py::test_a_kernel_without_a_file_never_leaves_stale_code_behind": (),
    "tests/test_kernel.py::test_a_file_edited_while_a_process_runs_does_not_spoil_the_cache": (),
    "tests/test_kernel.py::test_two_processes_at_once_compile_each_kernel_once": (),
    "tests/test_kernel.py::test_what_a_process_that_is_gone_was_compiling_is_compiled": (),
    "tests/test_kernel.py::test_kernels_around_one_that_is_kept_find_it": (),
    "tests/test_kernel.py::test_a_second_process_compiles_nothing_and_an_edited_kernel_in_another_file_is_never_run_stale": (),
    "tests/test_kernel.py::test_constants_and_bodies_from_other_files_count": (),
    "tests/test_agent.py::test_a_file_named_by_andante_agents_adds_an_algorithm": (),
    "tests/campaign/test_dask.py::test_a_killed_workers_jobs_run_again_and_results_are_the_same": (),
    "tests/campaign/test_dask.py::test_two_campaigns_on_one_scheduler_do_not_get_each_others_rows": (),
    "tests/benchmarks/test_benchmarks.py::TestComparison::test_everybody_in_a_process_of_their_own": (),
    "tests/torture/test_torture.py::test_a_killed_campaign_comes_to_the_same_rows": (),
    "tests/episode/test_interrupt.py::test_an_interrupted_run_ends_soon": (),
    "tests/offline/test_builder.py::test_an_interrupted_build_ends_soon_and_leaves_nothing": (),
    # Exported crowds: another loop, with the host's clock; and machine code for five machines.
    "tests/export/test_crowds.py::test_ticks_are_the_same": (),
    "tests/export/test_crowds.py::test_units_keep_to_the_memory_as_in_python": (),
    "tests/export/test_crowds.py::test_units_come_and_go": (),
    "tests/export/test_crowds.py::test_the_host_hands_in_a_clock": (),
    "tests/export/test_crowds.py::test_bad_calls_are_refused": (),
    "tests/export/test_library.py::test_without_a_linker_there_are_objects": (),
    # Long walks and many trials.
    "tests/contract/test_units.py::test_walks_the_same_way_in_any_unit": ("lrta", "astar"),
    "tests/cli/test_cli.py::test_the_demo_has_agents_with_databases_and_replays_those_it_recommends": (),
    "src/andante/selection/advise.py::andante.selection.advise.advise": (),
    "tests/selection/test_advise.py::test_with_a_clock_agents_have_their_databases_too": (),
    "tests/selection/test_advise.py::test_with_memory_there_are_databases_and_the_code_runs": (),
    "tests/selection/test_advise.py::test_intervals_hold_for_all_finalists_at_once": (),
    "tests/selection/test_advise.py::test_asked_again_in_the_same_folder_the_same_seed_gives_the_same_advice": (),
    "tests/selection/test_advise.py::test_whoever_breaks_a_limit_on_fresh_problems_only_is_not_recommended": (),
    "tests/selection/test_advise.py::test_what_was_worked_out_for_one_limit_serves_the_others": (),
    "tests/selection/test_advise.py::test_a_limit_on_time_is_for_the_slowest_move": (),
    "tests/selection/test_advise.py::test_finalists_are_not_all_of_one_algorithm": (),
    "tests/selection/test_advise.py::test_of_agents_that_do_as_well_the_simpler_one_is_named": (),
    "tests/cli/test_advise.py::test_a_folder_of_maps_gets_a_table_an_answer_and_a_page": (),
    "tests/cli/test_advise.py::test_trips_of_a_length": (),
    "tests/cli/test_choose.py::test_tables_figures_and_export": (),
    "docs/algorithms/dlrta.md::dlrta.md": (),
    "tests/cli/test_advise.py::test_several_limits_give_the_best_agent_for_each": (),
    "tests/selection/test_advise.py::test_a_limit_on_memory_drops_databases": (),
    "tests/offline/test_depth_tree.py::test_leaves_are_as_large_as_asked_for_and_noise_is_pruned": (),
    "tests/offline/test_pattern.py::test_far_subgoals_keep_their_promises_on_larger_maps": ("maze", "caves"),
    "tests/measures/test_comparison.py::test_equal_agents_are_hardly_ever_called_better": ("2",),
}


def is_slow(test: str, case: Collection[object] = ()) -> bool:
    """Whether `make test` leaves a test to `make test FULL=1`; ``case`` are its parameters."""
    kept = SLOW.get(test)
    return kept is not None and not {str(one) for one in case} & set(kept)
