package dev.pgapply.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.TornReadPoller;
import dev.pgapply.it.support.Wait;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Memory is bounded: the engine's JVM ends at once when its heap is not enough. 100 MB at -Xmx64m, or with {@code -Plong} a transaction
 * of 3 GB and a copy of 2 GB at -Xmx256m, which is what DESIGN promises.
 */
class MemoryIT {

    private static final int ROW_BYTES = 1_000;

    private static final Duration PATIENCE = RunOptions.duration(Duration.ofMinutes(3), Duration.ofMinutes(30));

    private static Scenario small() {
        Scenario scenario = Scenario.shared();
        if (RunOptions.longRun()) {
            return scenario.heap("256m");
        }
        return scenario.heap("64m")
                .option("receive_queue", "4MB")
                .option("batch", "{ max_rows: 5000, max_bytes: 4MB }");
    }

    private static long rows(int megabytes) {
        return megabytes * 1_000_000L / ROW_BYTES;
    }

    private static void fill(Scenario scenario, int megabytes) {
        scenario.publisher()
                .execute("INSERT INTO x01 SELECT g, repeat(md5(g::text), " + ROW_BYTES / 32
                        + ") FROM generate_series(1, " + rows(megabytes) + ") g");
    }

    @ParameterizedTest
    @ValueSource(strings = {"off", "on", "parallel"})
    void x01_a_huge_transaction_is_applied_whole_within_the_heap(String streaming) throws IOException {
        int megabytes = RunOptions.number(100, 3_000);
        try (Scenario scenario = small().option("streaming", streaming)) {
            scenario.onBoth("CREATE TABLE x01(id int PRIMARY KEY, v text)").publish("x01");
            scenario.publisher()
                    .execute("ALTER DATABASE " + scenario.pair().name() + " SET logical_decoding_work_mem = '4MB'");
            scenario.start();
            try (TornReadPoller poller = TornReadPoller.start(
                    scenario.target(), "SELECT count(*) FROM x01 WHERE id > 0", "0", Long.toString(rows(megabytes)))) {
                apply(scenario, streaming, megabytes);
                poller.assertNeverTorn();
            }
            TableComparison.of(scenario.pair()).assertSame("x01");
            assertThat(scenario.engine().log()).doesNotContain("OutOfMemoryError");
            assertThat(spoolFiles(scenario)).isZero();
        }
    }

    private static void apply(Scenario scenario, String streaming, int megabytes) {
        long begun = System.nanoTime();
        CompletableFuture<Void> filled = CompletableFuture.runAsync(() -> fill(scenario, megabytes));
        if (streaming.equals("on")) {
            // It grows while the transaction is in progress, and everyone can see it.
            long half = megabytes * 500_000L;
            Wait.until(
                    "half of the transaction to be spooled",
                    PATIENCE,
                    () -> spooledBytes(scenario.engine()) > half || filled.isCompletedExceptionally());
        }
        filled.join();
        long committed = System.nanoTime();
        long spooled = spooledBytes(scenario.engine());
        scenario.publisher().execute("INSERT INTO x01 VALUES (-1, 'after')");
        scenario.engine().awaitApplied(scenario.slot(), scenario.publisher().insertLsn(), PATIENCE);
        System.out.printf(
                "MemoryIT: %d MB, streaming %s: committed after %.1f s, applied %.1f s later; spool at the commit %d MB%n",
                megabytes,
                streaming,
                (committed - begun) / 1e9,
                (System.nanoTime() - committed) / 1e9,
                spooled / 1_000_000);
    }

    private static long spooledBytes(EngineProcess engine) {
        return engine.rest()
                .get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("pgapply_spool_bytes{"))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    private static long spoolFiles(Scenario scenario) throws IOException {
        Path directory = scenario.engine().config().stateDirectory().resolve(scenario.slot());
        if (!Files.exists(directory)) {
            return 0;
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.count();
        }
    }

    @Test
    void a_large_table_is_copied_within_the_heap() {
        try (Scenario scenario = small()) {
            scenario.onBoth("CREATE TABLE x01(id int PRIMARY KEY, v text)");
            fill(scenario, RunOptions.number(100, 2_000));
            scenario.publish("x01");
            scenario.launch();
            scenario.engine().awaitStatus(scenario.slot(), PATIENCE, Set.of("streaming"));

            scenario.assertSame("x01");
        }
    }
}
