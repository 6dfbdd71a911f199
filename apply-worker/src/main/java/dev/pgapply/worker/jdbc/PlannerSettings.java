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

    /** Until {@link #PIN}: a hashed pass over a whole table, planned each time for the number of rows that are wanted. */
    static final String HASHED = set("on", "force_custom_plan");

    /** Until the transaction's end: what triggers do is planned as in any session. */
    static final String FREE = set("on", "auto");

    static final String PIN = set("off", "force_generic_plan");

    private PlannerSettings() {}

    private static String set(String enabled, String planCacheMode) {
        return "SELECT set_config('enable_seqscan', '" + enabled + "', true), set_config('enable_hashjoin', '" + enabled
                + "', true), set_config('enable_mergejoin', '" + enabled + "', true), set_config('plan_cache_mode', '"
                + planCacheMode + "', true)";
    }
}
