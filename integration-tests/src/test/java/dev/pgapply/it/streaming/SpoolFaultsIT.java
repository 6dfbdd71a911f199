package dev.pgapply.it.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.pgapply.it.support.DatabasePair;
import dev.pgapply.it.support.EngineProcess;
import dev.pgapply.it.support.TableComparison;
import dev.pgapply.it.support.Wait;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** A spool that is lost, changed by others, or full: said so, and nothing of the data is lost. */
class SpoolFaultsIT {

    private static final long SOME = 20_000;

    private static DatabasePair pair() {
        return DatabasePair.shared()
                .onBoth("CREATE TABLE big(id int PRIMARY KEY, v text)", "CREATE TABLE small(id int PRIMARY KEY)")
                .publish("big", "small");
    }

    private static String rows(int from, int to) {
        return "INSERT INTO big SELECT g, repeat('a', 200) FROM generate_series(" + from + ", " + to + ") g";
    }

    @Test
    void a_killed_engine_is_sent_the_stream_again_and_leaves_no_file() throws IOException {
        try (StreamingEngine engine = StreamingEngine.start(pair(), EngineProcess.Builder::ownProcess)) {
            Session session = engine.begin().execute(rows(1, 1000));
            engine.awaitSpooled(session, SOME);
            Path leftover = engine.spoolFiles().get(0);

            engine.process().killNine();
            assertThat(leftover).exists();
            engine.process().start();
            engine.awaitSpooled(session, SOME);
            session.execute(rows(1001, 2000));
            session.commit();

            engine.awaitSame("big");
            assertThat(engine.spoolFiles()).isEmpty();
        }
    }

    @Test
    void a_file_that_somebody_has_cut_is_noticed_and_the_stream_sent_again() throws IOException {
        DatabasePair pair = pair();
        try (StreamingEngine engine = StreamingEngine.start(pair)) {
            Session session = engine.begin().execute(rows(1, 1000));
            engine.awaitSpooled(session, SOME);
            // Behind all blocks sent so far: none is being written any more, which would put right what is cut.
            pair.publisher().execute("INSERT INTO small VALUES (1)");
            engine.awaitSame("small");
            Files.write(engine.spoolFiles().get(0), new byte[17]);

            session.execute(rows(1001, 2000));
            JsonNode error = engine.process().awaitError("is not what was written");
            session.commit();

            assertThat(error.path("message").asText())
                    .contains(engine.spoolDirectory().toString())
                    .contains("transaction " + session.xid());
            engine.awaitSame("big");
            assertThat(engine.spoolFiles()).isEmpty();
        }
    }

    @Test
    void a_directory_that_cannot_be_written_is_named_and_nothing_is_lost() throws IOException {
        try (StreamingEngine engine = StreamingEngine.start(pair())) {
            Files.delete(engine.spoolDirectory());
            Files.writeString(engine.spoolDirectory(), "no directory");
            Session session = engine.begin().execute(rows(1, 1000));

            JsonNode error = engine.process().awaitError(engine.spoolDirectory().toString());
            session.commit();
            Files.delete(engine.spoolDirectory());

            assertThat(error.path("message").asText()).contains("spool");
            engine.awaitSame("big");
            assertThat(engine.spoolFiles()).isEmpty();
        }
    }

    @Test
    void a_full_spool_names_its_limit_and_others_are_safe() {
        DatabasePair pair = pair();
        try (StreamingEngine engine = StreamingEngine.start(pair, "spool", "{ max_bytes: 100kB }")) {
            pair.publisher().execute("INSERT INTO small VALUES (1)");
            Session session = engine.begin().execute(rows(1, 2000));

            JsonNode error = engine.process().awaitError("spool limit reached");
            assertThat(error.path("hint").asText()).contains("spool.max_bytes");
            assertThat(error.path("xid").asLong()).isEqualTo(session.xid());
            session.rollback();
            pair.publisher().execute("INSERT INTO small VALUES (2)");

            Wait.until(
                    "the small ones to arrive", () -> TableComparison.of(pair).isSame("small"));
            engine.awaitSame("big", "small");
            assertThat(engine.spoolFiles()).isEmpty();
        }
    }

    @Test
    void a_stop_in_the_middle_of_a_replay_ends_in_time_and_commits_nothing_of_it() {
        DatabasePair pair = pair();
        try (StreamingEngine engine = StreamingEngine.start(pair, "batch", "{ max_rows: 100 }");
                Session lock = new Session(pair.target())) {
            Session session = engine.begin().execute(rows(1, 5000));
            engine.awaitSpooled(session, SOME);
            lock.execute("LOCK TABLE big");

            session.commit();
            Wait.until(
                    "the replay to wait for the lock",
                    () -> pair.target()
                            .isTrue("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = '" + pair.name()
                                    + "' AND application_name LIKE 'pgapply%' AND wait_event_type = 'Lock')"));
            int exitCode = engine.process().terminate();

            assertThat(exitCode).isZero();
            lock.rollback();
            assertThat(pair.target().number("SELECT count(*) FROM big")).isZero();
            engine.process().start();
            engine.awaitSame("big");
            assertThat(engine.spoolFiles()).isEmpty();
        }
    }
}
