package dev.pgapply.it.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The servers that all other tests stand on. */
class ServersIT {

    @ParameterizedTest
    @ValueSource(ints = {14, 15, 16, 17, 18})
    void a_publisher_of_each_version_starts(int version) {
        try (PostgresServer server = PostgresServer.publisher(version).start()) {
            assertThat(server.maintenance().number("SHOW server_version_num") / 10_000)
                    .isEqualTo(version);
            assertThat(server.maintenance().value("SHOW wal_level")).isEqualTo("logical");
        }
    }

    @Test
    void a_durable_server_keeps_what_was_committed_before_kill_9() {
        try (PostgresServer server = PostgresServer.target(18).durable().start()) {
            Database database = server.createDatabase("Kept \"one\"");
            database.execute("CREATE TABLE t(id int)", "INSERT INTO t VALUES (1), (2)");

            server.killNine();
            server.start();

            assertThat(database.column("SELECT id FROM t ORDER BY 1")).containsExactly("1", "2");
            assertThat(database.value("SHOW fsync")).isEqualTo("on");
        }
    }

    @Test
    @DisabledIfSystemProperty(named = "pgapply.it.servers", matches = "containers")
    void a_restored_server_has_lost_what_came_after_its_base_copy() {
        try (PostgresServer server = PostgresServer.target(18).start()) {
            Database database = server.createDatabase("d");
            database.execute("CREATE TABLE t(id int)", "INSERT INTO t VALUES (1)");
            Path copy = server.takeBaseCopy();
            database.execute("INSERT INTO t VALUES (2)");

            server.restore(copy);

            assertThat(database.column("SELECT id FROM t")).containsExactly("1");
        }
    }

    @Test
    void a_paused_server_answers_after_it_is_resumed() {
        try (PostgresServer server = PostgresServer.target(18).start()) {
            server.pause();
            server.resume();

            server.restart(ShutdownMode.IMMEDIATE);

            assertThat(server.maintenance().value("SELECT 1")).isEqualTo("1");
            assertThat(server.log()).contains("immediate shutdown");
        }
    }
}
