package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Somebody who consumes the backlog of a slot, which begins where publisher and target have the same rows. */
interface Contestant {

    /** As in docs/BENCHMARKS.md and {@code -Dbench.only}. */
    String name();

    /** Whether the target has the rows afterwards. */
    boolean applies();

    /** Whether it takes part in that workload. */
    default boolean enters(String workload) {
        return true;
    }

    /** Begins to consume; returns at once. */
    Run start(Database publisher, Database target, String slot);

    /**
     * Begins with tables that are empty on the target: makes its slot, copies and follows; returns at once.
     *
     * @param name of slot and subscription
     */
    default Run copy(Database publisher, Database target, String name) {
        throw new UnsupportedOperationException(name() + " does not copy");
    }

    /** Where it records how far each table is; only for those that apply. */
    default TableStates tableStates() {
        throw new UnsupportedOperationException(name() + " does not copy");
    }

    /**
     * @param relation in the target
     * @param state its column with srsubstate's letters
     */
    record TableStates(String relation, String state) {

        /** Waits until exactly so many tables are recorded as copied. */
        void awaitCopied(Database target, int tables, Run run, Duration poll, Duration limit)
                throws InterruptedException {
            long asked = System.nanoTime();
            for (long copied = copied(target); copied != tables; copied = copied(target)) {
                run.check();
                if (System.nanoTime() - asked > limit.toNanos()) {
                    throw new IllegalStateException(relation + " has " + copied + " copied tables and not " + tables);
                }
                TimeUnit.NANOSECONDS.sleep(poll.toNanos());
            }
        }

        /** Below zero while there is no such relation. */
        private long copied(Database target) {
            return target.isTrue("SELECT to_regclass('" + relation + "') IS NOT NULL")
                    ? target.number("SELECT count(*) FROM " + relation + " WHERE " + state + " IN ('s', 'r')")
                    : -1;
        }
    }

    /** A contestant at work. */
    interface Run extends AutoCloseable {

        /** CPU seconds of the contestant's own process; 0 where it runs inside a server or the benchmark. */
        double cpuSeconds();

        /** Throws if it has failed. */
        void check();

        /** Takes on what was added to the publication, copying it, and lets go of what was removed; may return before that is done. */
        default void refresh() {
            throw new UnsupportedOperationException("does not copy");
        }

        @Override
        void close();
    }
}
