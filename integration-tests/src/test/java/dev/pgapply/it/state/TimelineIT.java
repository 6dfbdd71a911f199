package dev.pgapply.it.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.it.support.PostgresServer;
import dev.pgapply.it.support.ShutdownMode;
import dev.pgapply.it.support.Wait;
import dev.pgapply.worker.catalog.SlotState;
import dev.pgapply.worker.catalog.SubscriptionIdentity;
import dev.pgapply.worker.catalog.SubscriptionRow;
import dev.pgapply.worker.catalog.TargetIdentity;
import dev.pgapply.worker.catalog.TwoPhaseState;
import dev.pgapply.worker.origin.OriginStatus;
import dev.pgapply.worker.publisher.PublisherIdentity;
import dev.pgapply.worker.publisher.TimelineHistory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileOwnerAttributeView;
import java.sql.Connection;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A publisher that comes back on a new timeline, as after a failover or a restored backup. */
@DisabledIfSystemProperty(
        named = "pgapply.it.servers",
        matches = "containers",
        disabledReason = "works on the data directory")
class TimelineIT {

    @ParameterizedTest
    @ValueSource(ints = {14, 18})
    void a_new_timeline_is_followed_unless_the_target_has_more_than_it_kept(int version) throws Exception {
        try (PostgresServer server = PostgresServer.publisher(version).start()) {
            SubscriptionRow row;
            try (Connection connection = connect(server)) {
                PublisherIdentity before = PublisherIdentity.of(connection);
                row = row(before);
                assertThat(before.timeline()).isEqualTo(1);
            }

            recoverToANewTimeline(server);

            try (Connection connection = connect(server)) {
                PublisherIdentity after = PublisherIdentity.of(connection);
                TimelineHistory history = TimelineHistory.read(connection, after.timeline());
                assertThat(after.timeline()).isEqualTo(2);
                Lsn branchPoint = history.branchPoint(1);
                assertThat(branchPoint).isNotNull();
                assertThat(branchPoint).isLessThanOrEqualTo(after.walLsn());
                assertThatCode(() -> SubscriptionIdentity.checkProgress(row, at(branchPoint), after, history))
                        .doesNotThrowAnyException();
                Lsn lost = new Lsn(branchPoint.value() + 8);
                assertThatThrownBy(() -> SubscriptionIdentity.checkProgress(row, at(lost), after, history))
                        .isInstanceOfSatisfying(
                                ApplyException.class, e -> assertThat(e.kind()).isEqualTo(Kind.STATE_MISMATCH))
                        .hasMessageContaining(lost.toString())
                        .hasMessageContaining(branchPoint.toString());
            }
        }
    }

    @Test
    void the_first_timeline_has_no_history() throws Exception {
        try (PostgresServer server = PostgresServer.publisher(18).start();
                Connection connection = connect(server)) {
            assertThat(TimelineHistory.read(connection, 1).branchPoints()).isEmpty();
        }
    }

    private static Connection connect(PostgresServer server) {
        return TargetState.connections(server.maintenance(), PostgresServer.SUPERUSER, server.port())
                .openReplication("it");
    }

    private static OriginStatus at(Lsn lsn) {
        return new OriginStatus(lsn, Instant.EPOCH, Lsn.ZERO);
    }

    private static SubscriptionRow row(PublisherIdentity publisher) {
        return new SubscriptionRow(
                4711,
                "orders",
                true,
                null,
                SlotState.READY,
                "orders",
                new SubscriptionRow.Publisher(publisher.systemIdentifier(), publisher.timeline(), publisher.database()),
                new TargetIdentity(null, 1),
                TwoPhaseState.DISABLED,
                Lsn.parse("0/100"),
                Instant.EPOCH);
    }

    /** An archive recovery without an archive: it ends with the WAL at hand and branches off there. */
    private static void recoverToANewTimeline(PostgresServer server) throws Exception {
        server.stop(ShutdownMode.FAST);
        Path data = server.data();
        Files.writeString(
                data.resolve("postgresql.auto.conf"), "restore_command = 'false'\n", StandardOpenOption.APPEND);
        Path signal = Files.createFile(data.resolve("recovery.signal"));
        Files.getFileAttributeView(signal, FileOwnerAttributeView.class).setOwner(Files.getOwner(data));
        server.start();
        Wait.until("the end of recovery", () -> server.maintenance().isTrue("SELECT NOT pg_is_in_recovery()"));
    }
}
