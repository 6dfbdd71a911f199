package dev.pgapply.it.bench;

import dev.pgapply.it.support.Database;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/** Has one table copied again and again beside a stream: added to the publication {@code bench}, copied, removed. One thread's. */
final class TableCopies {

    /** Seldom: the target is measured meanwhile. */
    private static final Duration POLL = Duration.ofMillis(100);

    private static final Duration LIMIT = Duration.ofMinutes(2);

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

    /** Fills the table that is to be copied. */
    void fill(int rows) {
        publisher.execute(
                "INSERT INTO copied SELECT g, repeat(md5(g::text), 2) FROM generate_series(1, " + rows + ") g",
                "VACUUM ANALYZE copied");
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

    private void awaitCopied(int tables) throws InterruptedException {
        states.awaitCopied(target, tables, run, POLL, LIMIT);
    }
}
