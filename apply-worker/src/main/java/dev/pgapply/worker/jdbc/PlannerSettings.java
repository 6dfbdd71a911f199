package dev.pgapply.worker.jdbc;

/**
 * The planner's settings of an apply session. Its statements find rows by an index for each row of an array, or by one hashed pass;
 * which of both is known here and not to the planner, which has no statistics of an array.
 */
final class PlannerSettings {

    /**
     * For the whole session: nested loops over an index, planned once for each statement. Without jit, because a plan without any index
     * would cost enough on paper to be compiled.
     */
    static final String SESSION = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;"
            + " SET plan_cache_mode = force_generic_plan; SET jit = off";

    /** Until {@link #PIN} or the transaction's end: hashed passes over whole tables, and what triggers do. */
    static final String FREE =
            "SELECT set_config('enable_seqscan', 'on', true), set_config('enable_hashjoin', 'on', true),"
                    + " set_config('enable_mergejoin', 'on', true), set_config('plan_cache_mode', 'auto', true)";

    static final String PIN =
            "SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),"
                    + " set_config('enable_mergejoin', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)";

    private PlannerSettings() {}
}
