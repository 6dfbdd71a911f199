package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.TornReadPoller;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Memory is bounded: the engine's JVM ends at once when its heap is not enough. 100 MB at -Xmx64m, or with {@code -Plong} a transaction
 * of 1 GB and a copy of 2 GB at -Xmx256m, which is what DESIGN promises.
 */
class MemoryIT {

    private static final int ROW_BYTES = 1_000;

    private static Scenario small() {
        Scenario scenario = Scenario.shared();
        if (RunOptions.longRun()) {
            return scenario.heap("256m");
        }
        return scenario.heap("64m")
                .option("receive_queue", "4MB")
                .option("batch", "{ max_rows: 5000, max_bytes: 4MB }");
    }

    private static void fill(Scenario scenario, int megabytes) {
        long rows = megabytes * 1_000_000L / ROW_BYTES;
        scenario.publisher()
                .execute("INSERT INTO x01 SELECT g, repeat(md5(g::text), " + ROW_BYTES / 32
                        + ") FROM generate_series(1, " + rows + ") g");
    }

    @Test
    void x01_a_huge_transaction_is_applied_whole_within_the_heap() {
        int megabytes = RunOptions.number(100, 1_000);
        try (Scenario scenario = small()) {
            scenario.onBoth("CREATE TABLE x01(id int PRIMARY KEY, v text)")
                    .publish("x01")
                    .start();
            String whole = Long.toString(megabytes * 1_000_000L / ROW_BYTES);
            try (TornReadPoller poller =
                    TornReadPoller.start(scenario.target(), "SELECT count(*) FROM x01 WHERE id > 0", "0", whole)) {
                fill(scenario, megabytes);
                scenario.publisher().execute("INSERT INTO x01 VALUES (-1, 'after')");

                scenario.engine()
                        .awaitApplied(
                                scenario.slot(),
                                scenario.publisher().insertLsn(),
                                RunOptions.duration(Duration.ofMinutes(3), Duration.ofMinutes(20)));
                poller.assertNeverTorn();
            }
            TableComparison.of(scenario.pair()).assertSame("x01");
            assertThat(scenario.engine().log()).doesNotContain("OutOfMemoryError");
        }
    }

    @Test
    void a_large_table_is_copied_within_the_heap() {
        try (Scenario scenario = small()) {
            scenario.onBoth("CREATE TABLE x01(id int PRIMARY KEY, v text)");
            fill(scenario, RunOptions.number(100, 2_000));
            scenario.publish("x01");
            scenario.launch();
            scenario.engine()
                    .awaitStatus(
                            scenario.slot(),
                            RunOptions.duration(Duration.ofMinutes(3), Duration.ofMinutes(20)),
                            Set.of("streaming"));

            scenario.assertSame("x01");
        }
    }
}
