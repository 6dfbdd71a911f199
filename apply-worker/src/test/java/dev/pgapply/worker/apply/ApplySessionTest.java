package dev.pgapply.worker.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.Xid;
import dev.pgapply.core.batch.ChangeBatch;
import dev.pgapply.core.batch.SetPlan;
import dev.pgapply.core.batch.Step;
import dev.pgapply.core.batch.TransactionSlice;
import dev.pgapply.core.batch.Truncation;
import dev.pgapply.core.tablesync.CopyPace;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.time.Clock;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ApplySessionTest {

    private static final Instant TIME = Instant.parse("2026-01-02T03:04:05Z");
    private static final Lsn START = new Lsn(0x5);
    private static final long MILLI = 1_000_000;

    private final RecordingSession target = new RecordingSession();
    private final SubscriptionStats stats = new SubscriptionStats("orders", Clock.systemUTC());
    private final AppliedPositions positions = new AppliedPositions(START, stats);
    private final AtomicInteger nudges = new AtomicInteger();

    /** How far the clock of the pace goes on each time that it is read. */
    private volatile long step = 1;

    private final AtomicLong time = new AtomicLong();
    private final CopyPace pace = new CopyPace(() -> time.addAndGet(step));
    private final ApplySession session =
            ApplySession.start("orders", "pgapply_7", target, positions, stats, nudges::incrementAndGet, pace);

    @AfterEach
    void close() {
        session.close();
    }

    @Test
    void batches_are_executed_in_the_order_they_were_handed_over() {
        session.submit(transaction(1));
        session.submit(transaction(2));
        session.submit(transaction(3));

        session.awaitIdle(() -> false);

        assertThat(target.calls)
                .filteredOn(call -> call.startsWith("commit"))
                .containsExactly("commit 0/10", "commit 0/20", "commit 0/30");
        assertThat(positions.feedback().apply()).isEqualTo(new Lsn(0x30));
    }

    @Test
    void what_is_committed_and_not_durable_is_not_reported_as_flushed() {
        session.submit(transaction(1));

        session.awaitIdle(() -> false);

        assertThat(positions.feedback().apply()).isEqualTo(new Lsn(0x10));
        assertThat(positions.feedback().flush()).isEqualTo(START);
        assertThat(stats.oldestPendingCommitTime()).isEqualTo(TIME);
    }

    @Test
    void the_flush_position_follows_when_the_target_has_flushed() {
        session.submit(transaction(1));
        session.awaitIdle(() -> false);

        target.flushed = new Lsn(Long.MAX_VALUE);

        await().until(() -> positions.feedback().flush().equals(new Lsn(0x10)));
        assertThat(nudges).hasPositiveValue();
        assertThat(stats.oldestPendingCommitTime()).isNull();
    }

    @Test
    void an_idle_position_makes_earlier_commits_durable_too() {
        session.submit(transaction(1));
        session.recordIdle(new Lsn(0x90));

        session.awaitIdle(() -> false);

        assertThat(target.calls).endsWith("idle 0/90");
        assertThat(positions.feedback().flush()).isEqualTo(new Lsn(0x90));
    }

    @Test
    void a_failure_is_thrown_to_whoever_hands_over_next_and_nothing_more_is_executed() {
        target.planAnswers.add(new ApplyException(Kind.CONNECTION, "connection reset"));
        session.submit(transaction(1));
        ApplyException first = catchThrowableOfType(ApplyException.class, () -> session.awaitIdle(() -> false));

        ApplyException second = catchThrowableOfType(ApplyException.class, () -> session.submit(transaction(2)));

        assertThat(first).hasMessage("connection reset");
        assertThat(second).isSameAs(first);
        assertThat(target.calls).doesNotContain("commit 0/20").endsWith("close");
    }

    @Test
    void a_wait_that_is_given_up_ends() {
        session.submit(transaction(1));

        session.awaitFlushed(() -> true);

        assertThat(positions.feedback().flush()).isEqualTo(START);
    }

    @Test
    void a_closed_session_takes_nothing_more() {
        session.close();

        ApplyException refused = catchThrowableOfType(ApplyException.class, () -> session.submit(transaction(1)));

        assertThat(refused.kind()).isEqualTo(Kind.CONNECTION);
        assertThat(target.calls).containsExactly("close");
    }

    @Test
    void a_copy_hears_of_small_transactions_that_take_longer() {
        beginACopyAfterWhichAllTakesThreeTimesAsLong();
        assertThat(pace.carried(1_000_000)).isZero();
        submitEach(45, 16);

        assertThat(pace.carried(1_000_000)).isPositive();
    }

    @Test
    void large_transactions_and_several_at_once_say_nothing_about_the_delay() {
        beginACopyAfterWhichAllTakesThreeTimesAsLong();
        for (int i = 0; i < 3; i++) {
            assertThat(pace.carried(1_000_000)).isZero();
            submitEach(45, 17);
        }
        for (int i = 0; i < 90; i++) {
            session.submit(new ChangeBatch(
                    List.of(slice(2 * i + 1, 1), slice(2 * i + 2, 1)), new SetPlan(List.of()), 0));
            session.awaitIdle(() -> false);
        }
        submitEach(1, 1);

        assertThat(pace.carried(1_000_000)).isZero();
    }

    private void beginACopyAfterWhichAllTakesThreeTimesAsLong() {
        step = MILLI;
        submitEach(64, 1);
        pace.begin();
        step = 3 * MILLI;
    }

    /** Each by itself. */
    private void submitEach(int count, int changes) {
        for (int i = 1; i <= count; i++) {
            session.submit(new ChangeBatch(List.of(slice(i, changes)), new SetPlan(List.of()), 0));
            session.awaitIdle(() -> false);
        }
    }

    /** Transaction n ends at n * 0x10. */
    private static ChangeBatch transaction(int xid) {
        return new ChangeBatch(List.of(slice(xid, 0)), new SetPlan(List.of()), 0);
    }

    private static TransactionSlice slice(int xid, int steps) {
        Lsn commitLsn = new Lsn(xid * 0x10L - 1);
        Step truncation = new Truncation(List.of(), false, false);
        return new TransactionSlice(
                new Xid(xid),
                commitLsn,
                true,
                Collections.nCopies(steps, truncation),
                new TransactionSlice.End(commitLsn, new Lsn(xid * 0x10L), TIME));
    }
}
