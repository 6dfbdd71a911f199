package dev.pgapply.it.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TornReadPoller;
import org.junit.jupiter.api.Test;

/** Case X01 of the collection with streaming on: one huge transaction, bounded memory, all or nothing. */
class HugeStreamedTransactionIT {

    @Test
    void a_huge_transaction_is_spooled_and_applied_whole() {
        int rows = RunOptions.number(150_000, 1_500_000);
        DatabasePair pair = DatabasePair.shared()
                .onBoth("CREATE TABLE x01(id int PRIMARY KEY, v text)")
                .publish("x01");
        String whole = Integer.toString(rows - rows / 1000 + 1);
        try (StreamingEngine engine = StreamingEngine.start(
                        pair,
                        builder -> builder.heap(RunOptions.longRun() ? "256m" : "64m"),
                        "batch",
                        "{ max_bytes: 4MB }",
                        "receive_queue",
                        "4MB");
                TornReadPoller poller = TornReadPoller.start(
                        pair.target(),
                        "SELECT CASE WHEN max(id) > 0 OR count(*) = 0 THEN count(*) ELSE -1 END FROM x01",
                        "0",
                        Integer.toString(rows - rows / 1000),
                        whole)) {
            Session session = engine.begin()
                    .execute("INSERT INTO x01 SELECT g, repeat('v', 300) FROM generate_series(1, " + rows + ") g");
            engine.awaitSpooled(session, rows * 100L);
            engine.killAndStart();
            session.execute("UPDATE x01 SET v = v || '!' WHERE id % 10 = 0", "DELETE FROM x01 WHERE id % 1000 = 0");
            engine.awaitSpooled(session, rows * 100L);

            session.commit();
            pair.publisher().execute("INSERT INTO x01 VALUES (-1, 'after')");

            engine.awaitSame("x01");
            assertThat(pair.target().value("SELECT count(*) FROM x01")).isEqualTo(whole);
            assertThat(engine.spoolFiles()).isEmpty();
            assertThat(engine.process().log()).doesNotContain("OutOfMemory");
            poller.assertNeverTorn();
        }
    }
}
