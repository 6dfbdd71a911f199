package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;

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

    /** A contestant at work. */
    interface Run extends AutoCloseable {

        /** CPU seconds of the contestant's own process; 0 where it runs inside a server or the benchmark. */
        double cpuSeconds();

        /** Throws if it has failed. */
        void check();

        @Override
        void close();
    }
}
