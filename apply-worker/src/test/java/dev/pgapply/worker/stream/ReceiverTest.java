package dev.pgapply.worker.stream;

import static dev.pgapply.worker.stream.ReceiverFixture.RECEIVE_TIMEOUT;
import static dev.pgapply.worker.stream.ReceiverFixture.WAL_SENDER_TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.postgresql.util.PSQLWarning;
import org.postgresql.util.ServerErrorMessage;

class ReceiverTest {

    private static final long ROOMY = 1 << 20;
    private static final Duration A_THIRD = WAL_SENDER_TIMEOUT.dividedBy(3);

    @Test
    void frames_reach_the_queue_in_order_with_keepalives_among_them() throws Exception {
        try (ReceiverFixture fixture = new ReceiverFixture(ROOMY)) {
            fixture.stream.sends(Frames.xlogData(0x200, 3));
            fixture.stream.sends(Frames.keepalive(0x300, false));
            fixture.stream.sends(Frames.xlogData(0x250, 4));

            assertThat(fixture.takes(3))
                    .extracting(Frame::endLsn)
                    .containsExactly(new Lsn(0x200), new Lsn(0x300), new Lsn(0x250));
            assertThat(fixture.stats.receivedLsn()).isEqualTo(new Lsn(0x300));
            assertThat(fixture.stats.isConnected()).isTrue();
        }
    }

    @Test
    void a_status_goes_out_every_third_of_the_publishers_timeout() {
        try (ReceiverFixture fixture = new ReceiverFixture(ROOMY)) {
            fixture.ticker.advance(A_THIRD);
            await().until(() -> fixture.stream.statuses().size() == 1);

            fixture.ticker.advance(A_THIRD);

            await().until(() -> fixture.stream.statuses().size() == 2);
        }
    }

    @Test
    void what_may_have_somebody_wait_for_an_answer_keeps_the_receiver_awake_and_nothing_else() throws Exception {
        try (ReceiverFixture fixture = new ReceiverFixture(ROOMY)) {
            fixture.ticker.advance(Duration.ofSeconds(2));

            assertThat(sleepAfter(fixture, Frames.keepalive(0x200, false))).isGreaterThan(Duration.ofMillis(100));
            assertThat(sleepAfter(fixture, Frames.xlogData(0x300, 4))).isLessThan(Duration.ofMillis(10));
            fixture.ticker.advance(Duration.ofSeconds(2));
            assertThat(sleepAfter(fixture, Frames.keepalive(0x400, true))).isLessThan(Duration.ofMillis(10));
        }
    }

    private static Duration sleepAfter(ReceiverFixture fixture, byte[] frame) throws InterruptedException {
        fixture.stream.sends(frame);
        assertThat(fixture.takes(1)).hasSize(1);
        fixture.stream.sleeps().clear();
        await().until(() -> !fixture.stream.sleeps().isEmpty());
        return fixture.stream.sleeps().get(0);
    }

    @Test
    void a_moved_flush_position_goes_out_without_waiting_for_the_interval() {
        try (ReceiverFixture fixture = new ReceiverFixture(ROOMY)) {
            fixture.ticker.advance(Duration.ofMillis(100));

            fixture.reports(0x30, 0x10, 0x20);

            await().untilAsserted(() -> assertThat(fixture.stream.statuses())
                    .containsExactly(new Frames.Status(Frames.positions(0x30, 0x10, 0x20), false)));
            await().until(() -> fixture.stats.flushLsn().equals(new Lsn(0x10)));
        }
    }

    @Test
    void positions_that_were_sent_are_never_taken_back() {
        try (ReceiverFixture fixture = new ReceiverFixture(ROOMY)) {
            fixture.ticker.advance(Duration.ofMillis(100));
            fixture.reports(0x30, 0x20, 0x20);
            await().until(() -> fixture.stream.statuses().size() == 1);

            fixture.reports(0x10, 0x10, 0x40);
            fixture.ticker.advance(A_THIRD);

            await().untilAsserted(() -> assertThat(fixture.stream.statuses())
                    .last()
                    .isEqualTo(new Frames.Status(Frames.positions(0x30, 0x20, 0x40), false)));
        }
    }

    @Test
    void a_keepalive_that_wants_a_reply_gets_it_before_anybody_has_consumed_it() {
        try (ReceiverFixture fixture = new ReceiverFixture(ROOMY)) {
            fixture.stream.sends(Frames.keepalive(0x500, true));

            await().untilAsserted(() -> assertThat(fixture.stream.statuses())
                    .containsExactly(new Frames.Status(FeedbackPositions.NONE, false)));
        }
    }

    @Test
    void nothing_behind_the_warning_of_a_skipped_publication_reaches_the_leader() throws Exception {
        try (ReceiverFixture fixture = new ReceiverFixture(ROOMY)) {
            fixture.stream.sends(Frames.xlogData(1, 100));
            fixture.stream.sends(
                    warning(
                            "SWARNING\0C55000\0Mskipped loading publication \"p\"\0DThe publication does not exist.\0\0"),
                    Frames.xlogData(2, 100));

            assertThat(fixture.takes(1)).hasSize(1);
            assertThatThrownBy(() -> fixture.takes(1))
                    .hasMessage("replication from slot \"slot\" stopped: skipped loading publication \"p\":"
                            + " The publication does not exist")
                    .extracting("kind")
                    .isEqualTo(Kind.PRECONDITION);
        }
    }

    @Test
    void another_warning_stops_nothing() throws Exception {
        try (ReceiverFixture fixture = new ReceiverFixture(ROOMY)) {
            fixture.stream.sends(warning("SWARNING\0C01000\0Mbeware\0\0"), Frames.xlogData(1, 100));

            assertThat(fixture.takes(1)).hasSize(1);
        }
    }

    @Test
    void a_full_queue_stops_the_reading_but_not_the_status() {
        try (ReceiverFixture fixture = new ReceiverFixture(500)) {
            for (int i = 0; i < 2000; i++) {
                fixture.stream.sends(Frames.xlogData(i, 100));
            }
            await().until(() -> !fixture.queue.isEmpty());
            fixture.ticker.advance(A_THIRD);
            await().until(() -> fixture.stream.statuses().size() == 1);

            fixture.ticker.advance(A_THIRD);

            await().until(() -> fixture.stream.statuses().size() == 2);
            assertThat(fixture.stream.payloadsRead()).isLessThan(2000);
        }
    }

    @Test
    void the_silence_does_not_count_while_the_queue_is_full() throws Exception {
        try (ReceiverFixture fixture = new ReceiverFixture(300)) {
            for (int i = 0; i < 10; i++) {
                fixture.stream.sends(Frames.xlogData(i, 100));
            }
            await().until(() -> !fixture.queue.isEmpty());
            fixture.ticker.advance(RECEIVE_TIMEOUT.multipliedBy(2));
            await().until(() -> !fixture.stream.statuses().isEmpty());

            assertThat(fixture.takes(10)).hasSize(10);

            fixture.stream.sends(Frames.keepalive(0x500, false));
            assertThat(fixture.takes(1)).hasSize(1);
        }
    }

    @Test
    void half_the_timeout_of_silence_asks_for_a_reply_once() {
        try (ReceiverFixture fixture = new ReceiverFixture(ROOMY)) {
            fixture.ticker.advance(RECEIVE_TIMEOUT.dividedBy(2));
            await().until(() -> fixture.stream.statuses().stream().anyMatch(Frames.Status::replyRequested));

            int before = fixture.stream.statuses().size();
            fixture.ticker.advance(A_THIRD);
            await().until(() -> fixture.stream.statuses().size() > before);

            assertThat(fixture.stream.statuses().stream().filter(Frames.Status::replyRequested))
                    .hasSize(1);
        }
    }

    @Test
    void the_whole_timeout_of_silence_ends_the_connection() {
        try (ReceiverFixture fixture = new ReceiverFixture(ROOMY)) {
            fixture.ticker.advance(RECEIVE_TIMEOUT);

            assertThatThrownBy(() -> fixture.takes(1))
                    .isInstanceOf(ApplyException.class)
                    .hasMessage("terminating logical replication worker due to timeout")
                    .extracting("kind")
                    .isEqualTo(ApplyException.Kind.CONNECTION);
            assertThat(fixture.stream.isFinished()).isTrue();
            assertThat(fixture.stats.isConnected()).isFalse();
        }
    }

    @Test
    void an_error_reaches_the_leader_behind_the_frames_before_it() throws Exception {
        try (ReceiverFixture fixture = new ReceiverFixture(300)) {
            for (int i = 0; i < 5; i++) {
                fixture.stream.sends(Frames.xlogData(i, 100));
            }
            fixture.stream.fails(new SQLException("publication \"p\" does not exist", "42704"));

            assertThat(fixture.takes(5)).hasSize(5);
            assertThatThrownBy(() -> fixture.takes(1))
                    .isInstanceOf(ApplyException.class)
                    .hasMessageContaining("publication \"p\" does not exist")
                    .asInstanceOf(InstanceOfAssertFactories.type(ApplyException.class))
                    .satisfies(e -> assertThat(e.kind()).isEqualTo(ApplyException.Kind.PRECONDITION))
                    .satisfies(e -> assertThat(e.hint()).contains("creating the publication again does not help"));
        }
    }

    @Test
    void the_end_of_the_copy_is_a_lost_connection() {
        try (ReceiverFixture fixture = new ReceiverFixture(ROOMY)) {
            fixture.stream.endsTheCopy();

            assertThatThrownBy(() -> fixture.takes(1)).hasMessage("the publisher ended the replication stream");
        }
    }

    @Test
    void an_unknown_frame_is_a_protocol_violation() {
        try (ReceiverFixture fixture = new ReceiverFixture(ROOMY)) {
            fixture.stream.sends(new byte[] {'x', 1, 2});

            assertThatThrownBy(() -> fixture.takes(1))
                    .isInstanceOf(ApplyException.class)
                    .hasMessage("unexpected frame type 120 from the walsender")
                    .extracting("kind")
                    .isEqualTo(ApplyException.Kind.PROTOCOL_VIOLATION);
        }
    }

    @Test
    void half_a_message_holds_up_neither_the_status_nor_the_frames_before_it() throws Exception {
        try (ReceiverFixture fixture = new ReceiverFixture(ROOMY)) {
            fixture.stream.sends(Frames.xlogData(7, 10));
            fixture.stream.sendsHalfAMessage();
            assertThat(fixture.takes(1)).hasSize(1);

            fixture.ticker.advance(A_THIRD);

            await().until(() -> !fixture.stream.statuses().isEmpty());
        }
    }

    @Test
    void closing_sends_the_last_positions() {
        ReceiverFixture fixture = new ReceiverFixture(ROOMY);
        fixture.reports(0x90, 0x80, 0x90);

        fixture.close();

        assertThat(fixture.stream.statuses())
                .last()
                .isEqualTo(new Frames.Status(Frames.positions(0x90, 0x80, 0x90), false));
        assertThat(fixture.stream.isFinished()).isTrue();
        assertThat(fixture.stream.isAborted()).isFalse();
    }

    @Test
    void closing_ends_a_receiver_that_waits_for_the_queue() throws Exception {
        ReceiverFixture fixture = new ReceiverFixture(300);
        for (int i = 0; i < 10; i++) {
            fixture.stream.sends(Frames.xlogData(i, 100));
        }
        await().until(() -> !fixture.queue.isEmpty());

        fixture.close();

        assertThat(fixture.stream.isFinished()).isTrue();
        assertThat(fixture.queue.drainTo(new ArrayList<>(), Duration.ofSeconds(30)))
                .isZero();
    }

    private static PSQLWarning warning(String fields) {
        return new PSQLWarning(new ServerErrorMessage(fields));
    }
}
