package dev.pgapply.it.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import dev.pgapply.core.Lsn;
import dev.pgapply.it.support.Database;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineConfig;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.RunOptions;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.Wait;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Case X08 of the collection: logical messages and origins, in ordinary and in streamed transactions, and a ring. */
class MessagesAndOriginsIT {

    private static final Duration LONG_ENOUGH = Duration.ofMinutes(3);

    private static String streamed(int from, int to) {
        return "INSERT INTO x08 SELECT g FROM generate_series(" + from + ", " + to + ") g";
    }

    @ParameterizedTest
    @CsvSource({"14, on", "18, off", "18, on", "18, parallel"})
    void messages_and_origins_stop_nothing_and_the_slot_moves_past_them(int version, String mode) {
        RunOptions.takenByLongRunOnly(!mode.equals("parallel"));
        DatabasePair pair = DatabasePair.shared(version, RunOptions.targetVersion())
                .onBoth("CREATE TABLE x08(id int PRIMARY KEY)")
                .publish("x08");
        String origin = "o_" + pair.name();
        Database publisher = pair.publisher();
        publisher.execute("SELECT pg_replication_origin_create('" + origin + "')");
        try (StreamingEngine engine = StreamingEngine.start(pair, "streaming", mode)) {
            publisher.execute(
                    "BEGIN",
                    "INSERT INTO x08 VALUES (1)",
                    "SELECT pg_logical_emit_message(true, 'app', 'in tx')",
                    "SELECT pg_logical_emit_message(false, 'app', repeat('z', 5000))",
                    "INSERT INTO x08 VALUES (2)",
                    "COMMIT",
                    "SELECT pg_logical_emit_message(false, 'app', 'alone')",
                    "SELECT pg_logical_emit_message(true, 'app', 'own tx')");
            engine.begin()
                    .execute(
                            "SELECT pg_replication_origin_session_setup('" + origin + "')",
                            "INSERT INTO x08 VALUES (3)",
                            streamed(1001, 4000),
                            "SELECT pg_logical_emit_message(true, 'app', repeat('t', 5000))",
                            "SAVEPOINT s",
                            streamed(4001, 6000),
                            "SELECT pg_logical_emit_message(false, 'app', 'in a stream')",
                            "ROLLBACK TO s",
                            streamed(6001, 8000))
                    .commit();
            engine.awaitSame("x08");
            assertThat(pair.target().number("SELECT count(*) FROM x08")).isEqualTo(5003);
            assertThat(engine.streamedTransactions()).isEqualTo(mode.equals("off") ? 0 : 1);

            publisher.execute("SELECT pg_logical_emit_message(false, 'app', 'last')");
            Lsn end = publisher.insertLsn();
            Wait.until(
                    "the slot to pass a lone message",
                    LONG_ENOUGH,
                    () -> publisher.isTrue("SELECT confirmed_flush_lsn >= '" + end
                            + "' FROM pg_replication_slots WHERE slot_name = '" + pair.name() + "'"),
                    engine.process()::explain);
        } finally {
            PostgresServer server = publisher.server();
            server.maintenance().execute("SELECT pg_replication_origin_drop('" + origin + "')");
        }
    }

    /** Two subscriptions that ask for {@code origin: none}; without the workers' origins a streamed transaction would go round and round. */
    @Test
    void a_ring_brings_each_row_to_each_side_once() {
        try (PostgresServer left = PostgresServer.publisher(18).start();
                PostgresServer right = PostgresServer.publisher(18).start()) {
            DatabasePair pair = DatabasePair.on(left, right)
                    .onBoth("CREATE TABLE x08(id int PRIMARY KEY)", "CREATE PUBLICATION pb FOR TABLE x08");
            for (Database side : new Database[] {pair.publisher(), pair.target()}) {
                side.execute("ALTER DATABASE " + pair.name() + " SET logical_decoding_work_mem = '64kB'");
            }
            EngineConfig config = EngineConfig.subscription("there")
                    .from(pair.publisher())
                    .to(pair.target())
                    .publications("pb")
                    .option("origin", "none")
                    .and("back")
                    .from(pair.target())
                    .to(pair.publisher())
                    .publications("pb")
                    .option("origin", "none")
                    .build();
            try (EngineProcess engine = EngineProcess.start(config)) {
                engine.awaitStatus("there", LONG_ENOUGH, Set.of("streaming"));
                engine.awaitStatus("back", LONG_ENOUGH, Set.of("streaming"));
                pair.publisher().execute("INSERT INTO x08 VALUES (4)");
                pair.target().execute("INSERT INTO x08 VALUES (5)");
                try (Session here = new Session(pair.publisher());
                        Session there = new Session(pair.target())) {
                    here.execute(streamed(1001, 4000)).commit();
                    there.execute(streamed(4001, 7000)).commit();
                }
                for (int i = 0; i < 2; i++) {
                    engine.awaitApplied("there", pair.publisher().insertLsn(), LONG_ENOUGH);
                    engine.awaitApplied("back", pair.target().insertLsn(), LONG_ENOUGH);
                }

                TableComparison.of(pair).assertSame("x08");
                assertThat(pair.target().number("SELECT count(*) FROM x08")).isEqualTo(6002);
                assertThat(inserted(engine, "there")).isEqualTo(3001);
                assertThat(inserted(engine, "back")).isEqualTo(3001);
                assertThat(pair.target()
                                .number("SELECT count(*) FROM pg_replication_origin_status"
                                        + " WHERE external_id LIKE 'pgapply\\_%\\_1' AND remote_lsn > '0/0'"))
                        .isEqualTo(1);
            }
        }
    }

    private static double inserted(EngineProcess engine, String subscription) {
        return engine.rest()
                .get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(
                        "pgapply_rows_total{operation=\"insert\",subscription=\"" + subscription + "\""))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
