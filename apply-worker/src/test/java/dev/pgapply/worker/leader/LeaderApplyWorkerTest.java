package dev.pgapply.worker.leader;

import static dev.pgapply.worker.apply.PublisherMessages.begin;
import static dev.pgapply.worker.apply.PublisherMessages.commit;
import static dev.pgapply.worker.apply.PublisherMessages.insert;
import static dev.pgapply.worker.apply.PublisherMessages.relation;
import static dev.pgapply.worker.leader.LeaderFixture.ORPHANS;
import static dev.pgapply.worker.leader.LeaderFixture.STATUS_INTERVAL;
import static dev.pgapply.worker.leader.LeaderFixture.USERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.worker.stats.SubscriptionStatus;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LeaderApplyWorkerTest {

    @TempDir
    Path spool;

    private LeaderFixture leader;

    @BeforeEach
    void start() {
        leader = new LeaderFixture(spool).start();
    }

    @AfterEach
    void close() throws InterruptedException {
        leader.close();
    }

    @Test
    void a_transaction_is_committed_as_soon_as_the_stream_pauses() throws InterruptedException {
        leader.receives(relation(0, USERS, "users"), begin(7, "0/200"), insert(0, USERS, "1"), commit("0/200"));

        await().until(() -> !leader.commits().isEmpty());

        assertThat(leader.commits()).containsExactly("commit 0/208");
    }

    @Test
    void transactions_before_a_bad_one_are_committed_before_it_is_reported() throws InterruptedException {
        leader.receives(
                relation(0, USERS, "users"),
                relation(0, ORPHANS, "orphans"),
                begin(7, "0/200"),
                insert(0, USERS, "1"),
                commit("0/200"),
                begin(8, "0/300"),
                insert(0, ORPHANS, "1"));

        ApplyException failure = leader.awaitEnd();

        assertThat(leader.commits()).containsExactly("commit 0/208");
        assertThat(failure)
                .isNotNull()
                .hasMessage("logical replication target relation \"public.orphans\" does not exist");
        assertThat(failure.context()).isNotNull();
        assertThat(failure.context().sentence())
                .isEqualTo("processing remote data for replication origin \"pgapply_7\" during message type \"INSERT\""
                        + " for replication target relation \"public.orphans\" in transaction 8, finished at 0/300");
    }

    @Test
    void a_stop_commits_what_is_whole_and_drops_the_rest() throws InterruptedException {
        leader.target.flushed = new Lsn(Long.MAX_VALUE);
        leader.receives(
                relation(0, USERS, "users"),
                begin(7, "0/200"),
                insert(0, USERS, "1"),
                commit("0/200"),
                begin(8, "0/300"),
                insert(0, USERS, "2"));
        await().until(() -> !leader.commits().isEmpty());

        leader.stop();

        assertThat(leader.commits()).containsExactly("commit 0/208");
        assertThat(leader.positions.feedback().flush()).isEqualTo(Lsn.parse("0/208"));
    }

    @Test
    void a_transaction_that_the_target_has_already_is_skipped_by_its_end() throws InterruptedException {
        leader.receives(relation(0, USERS, "users"), begin(7, "0/F0"), insert(0, USERS, "1"), commit("0/F0"));
        leader.receives(begin(8, "0/100"), insert(0, USERS, "2"), commit("0/100"));

        await().until(() -> !leader.commits().isEmpty());

        assertThat(leader.commits()).containsExactly("commit 0/108");
        assertThat(leader.stats.skippedTransactions.sum()).isEqualTo(1);
    }

    @Test
    void an_idle_stream_is_recorded_once_a_status_interval() throws InterruptedException {
        leader.receivesKeepalive("0/500", false);
        await().until(() -> leader.idles().equals(java.util.List.of("idle 0/500")));
        leader.receivesKeepalive("0/600", false);
        leader.receivesKeepalive("0/700", false);
        await().until(() -> leader.positions.consumedLsn().equals(Lsn.parse("0/700")));

        leader.ticker.advance(STATUS_INTERVAL);

        await().until(() -> leader.idles().size() == 2);
        assertThat(leader.idles()).containsExactly("idle 0/500", "idle 0/700");
        assertThat(leader.positions.feedback().flush()).isEqualTo(Lsn.parse("0/700"));
    }

    @Test
    void an_idle_stream_is_recorded_at_once_when_the_publisher_asks() throws InterruptedException {
        leader.receivesKeepalive("0/500", false);
        await().until(() -> leader.idles().size() == 1);

        leader.receivesKeepalive("0/600", true);

        await().until(() -> leader.idles().size() == 2);
        assertThat(leader.positions.feedback().flush()).isEqualTo(Lsn.parse("0/600"));
    }

    @Test
    void keepalives_that_never_pause_are_recorded_too() throws InterruptedException {
        leader.receivesKeepalive("0/500", false);
        await().until(() -> leader.idles().size() == 1);
        leader.ticker.advance(STATUS_INTERVAL);
        AtomicLong lsn = new AtomicLong(0x501);

        await().pollInterval(Duration.ofMillis(5)).until(() -> {
            leader.receivesKeepalive(new Lsn(lsn.getAndIncrement()).toString(), false);
            return leader.idles().size() == 2;
        });

        assertThat(leader.positions.feedback().flush()).isGreaterThan(Lsn.parse("0/500"));
    }

    @Test
    void a_keepalive_inside_a_transaction_is_no_idle_position() throws InterruptedException {
        leader.receives(relation(0, USERS, "users"), begin(7, "0/200"), insert(0, USERS, "1"));
        leader.receivesKeepalive("0/500", true);
        await().until(() -> leader.positions.consumedLsn().equals(Lsn.parse("0/500")));

        leader.receives(commit("0/600"));

        ApplyException failure = leader.awaitEnd();
        assertThat(failure).isNotNull().hasMessage("incorrect commit LSN 0/600 in commit message (expected 0/200)");
        assertThat(leader.idles()).isEmpty();
        assertThat(leader.commits()).isEmpty();
    }

    @Test
    void the_subscription_streams_once_it_has_come_to_where_the_publisher_was() {
        await().until(() -> leader.stats.status() == SubscriptionStatus.STREAMING);

        assertThat(leader.stats.lastError()).isNull();
    }

    @Test
    void what_another_thread_found_ends_the_run() throws InterruptedException {
        leader.fail(new ApplyException(Kind.OWNERSHIP_LOST, "another engine owns the subscription"));

        ApplyException failure = leader.awaitEnd();

        assertThat(failure).isNotNull();
        assertThat(failure.kind()).isEqualTo(Kind.OWNERSHIP_LOST);
    }
}
