package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Has one table copied again and again beside a stream: added to the publication {@code bench}, copied, removed. One thread's. */
final class TableCopies {

    private static final long POLL_MILLIS = 100;
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(120);

    private final Contestant.TableStates states;
    private final Database publisher;
    private final Database target;
    private final Contestant.Run run;

    TableCopies(Contestant.TableStates states, Database publisher, Database target, Contestant.Run run) {
        this.states = states;
        this.publisher = publisher;
        this.target = target;
        this.run = run;
    }

    /** Waits until the tables that are published all the time are copied. */
    void awaitFirst() throws InterruptedException {
        awaitCopied(2);
    }

    /**
     * @param begun counted down once the contestant has been told of the first
     * @return how many copies have ended
     */
    int copyUntil(AtomicBoolean ended, CountDownLatch begun) throws InterruptedException {
        try {
            int copies = 0;
            while (!ended.get()) {
                publisher.execute("ALTER PUBLICATION bench ADD TABLE copied");
                run.refresh();
                begun.countDown();
                awaitCopied(3);
                copies++;
                publisher.execute("ALTER PUBLICATION bench DROP TABLE copied");
                run.refresh();
                awaitCopied(2);
                target.execute("TRUNCATE copied");
            }
            return copies;
        } finally {
            begun.countDown();
        }
    }

    /** Waits until so many tables are recorded, and all as copied. */
    private void awaitCopied(int tables) throws InterruptedException {
        String sql = "SELECT count(*) = " + tables + " AND count(*) FILTER (WHERE " + states.state()
                + " IN ('s', 'r')) = " + tables + " FROM " + states.relation();
        long since = System.nanoTime();
        while (!target.isTrue("SELECT to_regclass('" + states.relation() + "') IS NOT NULL") || !target.isTrue(sql)) {
            run.check();
            if (System.nanoTime() - since > LIMIT_NANOS) {
                throw new IllegalStateException("waited for " + tables + " copied tables");
            }
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        }
    }
}
