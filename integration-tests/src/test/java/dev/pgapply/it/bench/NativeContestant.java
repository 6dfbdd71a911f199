package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import java.util.List;

/**
 * PostgreSQL's own subscription.
 *
 * @param label its name after {@code native_}
 * @param options of CREATE SUBSCRIPTION
 * @param settings of the target server while it runs, as ALTER SYSTEM takes them
 */
record NativeContestant(String label, String options, List<String> settings) implements Contestant {

    static NativeContestant streaming(String mode) {
        return new NativeContestant(mode, "streaming = " + mode, List.of());
    }

    /** Binary values, and twice the parallel apply workers. The servers of the benchmark have worker processes enough for them. */
    static NativeContestant tuned() {
        return new NativeContestant(
                "tuned",
                "streaming = parallel, binary = true",
                List.of("max_parallel_apply_workers_per_subscription = 4", "max_sync_workers_per_subscription = 4"));
    }

    @Override
    public String name() {
        return "native_" + label;
    }

    @Override
    public boolean applies() {
        return true;
    }

    @Override
    public Run start(Database publisher, Database target, String slot) {
        return start(publisher, target, slot, "create_slot = false, copy_data = false, ");
    }

    @Override
    public Run copy(Database publisher, Database target, String name) {
        return start(publisher, target, name, "");
    }

    @Override
    public TableStates tableStates() {
        return new TableStates("pg_subscription_rel", "srsubstate");
    }

    private Run start(Database publisher, Database target, String slot, String further) {
        for (String setting : settings) {
            target.execute("ALTER SYSTEM SET " + setting);
        }
        target.execute(
                "SELECT pg_reload_conf()",
                "CREATE SUBSCRIPTION bench CONNECTION " + Database.literal(publisher.libpqKeywords())
                        + " PUBLICATION bench WITH (" + further + "slot_name = " + slot + ", " + options + ")");
        return new Run() {
            @Override
            public double cpuSeconds() {
                return 0;
            }

            @Override
            public void check() {
                if (target.number("SELECT count(*) FROM pg_subscription WHERE subenabled") != 1) {
                    throw new IllegalStateException("the native subscription is disabled");
                }
            }

            @Override
            public void refresh() {
                target.execute("ALTER SUBSCRIPTION bench REFRESH PUBLICATION");
            }

            @Override
            public void close() {
                target.execute(
                        "ALTER SUBSCRIPTION bench DISABLE",
                        "ALTER SUBSCRIPTION bench SET (slot_name = NONE)",
                        "DROP SUBSCRIPTION bench",
                        "ALTER SYSTEM RESET ALL",
                        "SELECT pg_reload_conf()");
            }
        };
    }
}
