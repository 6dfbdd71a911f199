package dev.pgapply.worker.apply;

import static dev.pgapply.worker.apply.PublisherMessages.begin;
import static dev.pgapply.worker.apply.PublisherMessages.beginPrepare;
import static dev.pgapply.worker.apply.PublisherMessages.commit;
import static dev.pgapply.worker.apply.PublisherMessages.commitPrepared;
import static dev.pgapply.worker.apply.PublisherMessages.insert;
import static dev.pgapply.worker.apply.PublisherMessages.prepare;
import static dev.pgapply.worker.apply.PublisherMessages.relation;
import static dev.pgapply.worker.apply.PublisherMessages.rollbackPrepared;
import static dev.pgapply.worker.apply.PublisherMessages.streamPrepare;
import static dev.pgapply.worker.apply.PublisherMessages.streamStart;
import static dev.pgapply.worker.apply.PublisherMessages.streamStop;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.subscription.StreamingMode;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Prepared transactions as the leader hands them over; the target stands at 0/100. */
class ApplyDispatcherPreparedTest {

    private static final int USERS = DispatcherFixture.USERS;

    @TempDir
    Path directory;

    private DispatcherFixture leader;

    @BeforeEach
    void open() {
        leader = new DispatcherFixture(directory, StreamingMode.ON, 3, true);
        leader.receives(relation(0, USERS, "users", "name"));
    }

    @Test
    void what_came_before_a_prepared_transaction_is_handed_over_first_and_it_shares_its_batch_with_nothing() {
        leader.receives(
                begin(730, "0/200"),
                insert(0, USERS, "1", "ann"),
                commit("0/200"),
                beginPrepare(731, "0/300"),
                insert(0, USERS, "2", "bob"),
                prepare(731, "0/300"),
                begin(732, "0/400"),
                insert(0, USERS, "3", "cid"),
                commit("0/400"),
                commitPrepared(731, "0/500"));

        assertThat(leader.handedOver)
                .containsExactly(
                        "730 first: 1 ann; end 0/208",
                        "begin prepare 731 ending 0/308",
                        "731 first: 2 bob; end 0/308",
                        "732 first: 3 cid; end 0/408",
                        "commit prepared 731");
        assertThat(leader.positions.consumedLsn()).isEqualTo(Lsn.parse("0/508"));
    }

    @Test
    void one_larger_than_a_batch_goes_in_parts() {
        leader.receives(
                beginPrepare(731, "0/300"),
                insert(0, USERS, "1", "a"),
                insert(0, USERS, "2", "b"),
                insert(0, USERS, "3", "c"),
                insert(0, USERS, "4", "d"),
                prepare(731, "0/300"));

        assertThat(leader.handedOver)
                .containsExactly("begin prepare 731 ending 0/308", "731 first: 1 a, 2 b, 3 c", "731: 4 d; end 0/308");
    }

    @Test
    void an_empty_one_is_prepared_too() {
        leader.receives(beginPrepare(731, "0/300"), prepare(731, "0/300"));

        assertThat(leader.handedOver).containsExactly("begin prepare 731 ending 0/308", "731 first: ; end 0/308");
    }

    @Test
    void a_prepare_behind_the_progress_is_handed_over_all_the_same() {
        leader.receives(
                beginPrepare(731, "0/50"),
                insert(0, USERS, "1", "ann"),
                prepare(731, "0/50"),
                commitPrepared(731, "0/200"));

        assertThat(leader.handedOver)
                .containsExactly("begin prepare 731 ending 0/58", "731 first: 1 ann; end 0/58", "commit prepared 731");
    }

    @Test
    void an_end_behind_the_progress_is_done_already() {
        leader.receives(commitPrepared(731, "0/50"), rollbackPrepared(732, "0/48", "0/100"));

        assertThat(leader.handedOver).isEmpty();
        assertThat(leader.stats.skippedTransactions.sum()).isEqualTo(2);
    }

    @Test
    void a_rollback_carries_the_position_of_the_prepare() {
        leader.receives(rollbackPrepared(731, "0/308", "0/500"));

        assertThat(leader.handedOver).containsExactly("rollback prepared 731 of 0/308");
        assertThat(leader.positions.consumedLsn()).isEqualTo(Lsn.parse("0/500"));
    }

    @Test
    void a_streamed_one_is_replayed_at_its_prepare_and_its_spool_is_gone() {
        leader.receives(
                streamStart(731, true),
                relation(731, USERS, "users", "name"),
                insert(731, USERS, "1", "ann"),
                streamStop(),
                streamPrepare(731, "0/300"));

        assertThat(leader.handedOver).containsExactly("begin prepare 731 ending 0/308", "731 first: 1 ann; end 0/308");
        assertThat(directory.toFile().list()).noneMatch(name -> name.startsWith("7-731"));
    }

    @Test
    void a_stream_that_was_not_asked_for_it_is_a_violation() {
        DispatcherFixture other = new DispatcherFixture(directory.resolve("other"), StreamingMode.ON, 3, false);

        assertThat(violation(() -> other.receives(beginPrepare(731, "0/300"))))
                .contains("BEGIN PREPARE although two_phase was not asked for");
        assertThat(violation(() -> other.receives(commitPrepared(731, "0/300"))))
                .contains("COMMIT PREPARED although two_phase was not asked for");
    }

    @Test
    void messages_out_of_their_order_are_violations() {
        assertThat(violation(() -> leader.receives(prepare(731, "0/300")))).contains("which has not begun");
        assertThat(violation(() -> leader.receives(beginPrepare(731, "0/300"), prepare(731, "0/308"))))
                .contains("incorrect prepare LSN 0/308 in prepare message (expected 0/300)");
        assertThat(violation(() -> leader.receives(beginPrepare(731, "0/300"), commit("0/300"))))
                .contains("which began with BEGIN PREPARE");
        assertThat(violation(() -> leader.receives(beginPrepare(731, "0/300"), commitPrepared(730, "0/400"))))
                .contains("inside transaction 731");
        assertThat(violation(() -> leader.receives(begin(731, "0/300"), beginPrepare(732, "0/400"))))
                .contains("inside transaction 731");
    }

    private static String violation(Runnable receiving) {
        ApplyException thrown = catchThrowableOfType(ApplyException.class, receiving::run);
        assertThat(thrown.kind()).isEqualTo(Kind.PROTOCOL_VIOLATION);
        return thrown.getMessage();
    }
}
