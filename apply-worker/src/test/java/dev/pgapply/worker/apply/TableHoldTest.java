package dev.pgapply.worker.apply;

import static dev.pgapply.worker.apply.PublisherMessages.begin;
import static dev.pgapply.worker.apply.PublisherMessages.commit;
import static dev.pgapply.worker.apply.PublisherMessages.insert;
import static dev.pgapply.worker.apply.PublisherMessages.relation;
import static dev.pgapply.worker.apply.PublisherMessages.streamCommit;
import static dev.pgapply.worker.apply.PublisherMessages.streamStart;
import static dev.pgapply.worker.apply.PublisherMessages.streamStop;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.batch.BatchLimits;
import dev.pgapply.core.pgoutput.Tuple;
import dev.pgapply.core.spool.SpooledChanges;
import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.tablesync.SubscribedTables.Entry;
import dev.pgapply.core.tablesync.TableSyncState;
import dev.pgapply.core.target.ChangeOutcome;
import dev.pgapply.core.target.SetOutcome;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A leader and a table sync worker: the test's thread is the leader, the worker asks from another. */
class TableHoldTest {

    private static final QualifiedName USERS = new QualifiedName("public", "users");
    private static final Lsn SYNC = Lsn.parse("0/300");
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    @TempDir
    private Path directory;

    private final List<String> barriers = new ArrayList<>();
    private volatile boolean workerGivenUp;

    private DispatcherFixture leader(StreamingMode streaming) {
        return new DispatcherFixture(directory, streaming, 1000)
                .receives(relation(0, DispatcherFixture.USERS, "users", "name"));
    }

    private TableHold hold(DispatcherFixture leader) {
        return new TableHold(leader.holds, USERS, () -> workerGivenUp);
    }

    /** Has the worker ask, answers it between two transactions, and gives what it got. */
    private <T> T answered(DispatcherFixture leader, Callable<T> asked) throws Exception {
        CompletableFuture<T> worker = CompletableFuture.supplyAsync(() -> {
            try {
                return asked.call();
            } catch (Exception e) {
                throw new CompletionException(e);
            }
        });
        while (true) {
            leader.holds.attend(
                    givenUp -> {
                        leader.dispatcher.sealWhole();
                        barriers.add("committed");
                    },
                    () -> leader.givenUp);
            try {
                return worker.get(5, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                assertThat(worker).isNotDone();
            } catch (ExecutionException e) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }
    }

    private void beginHold(DispatcherFixture leader, TableHold hold) throws Exception {
        boolean unused = answered(leader, () -> {
            hold.begin();
            return true;
        });
    }

    /** The rows that a replay inserts, as {@code id name}. The fast path is refused, so that each change is seen. */
    private List<String> replayed(SpooledChanges changes) {
        List<String> rows = new ArrayList<>();
        RecordingSession target = new RecordingSession();
        target.planAnswers.add(SetOutcome.REPLAY);
        target.onChange = change -> {
            Tuple row = change.newTuple();
            if (row != null) {
                rows.add(row.text(0) + " " + row.text(1));
            }
            return ChangeOutcome.APPLIED;
        };
        HeldReplay replay = new HeldReplay(
                USERS,
                SYNC,
                "pgapply_7",
                new BatchLimits(1000, 1 << 20),
                target,
                new OpenRelations(DispatcherFixture.target(), () -> 0, entry -> {}),
                new SubscriptionStats("orders", Clock.systemUTC()));
        replay.apply(changes, () -> false);
        assertThat(replay.position()).isEqualTo(changes.length());
        return rows;
    }

    @Test
    void from_the_hold_on_changes_are_kept_and_what_came_before_is_committed() throws Exception {
        DispatcherFixture leader = leader(StreamingMode.OFF);
        leader.receives(begin(731, "0/200"), insert(0, DispatcherFixture.USERS, "1", "ann"), commit("0/200"));
        TableHold hold = hold(leader);

        beginHold(leader, hold);
        leader.receives(begin(732, "0/400"), insert(0, DispatcherFixture.USERS, "2", "bob"), commit("0/400"));

        assertThat(barriers).containsExactly("committed");
        assertThat(leader.batches()).containsExactly("731 first: 1 ann; end 0/208", "732 first: ; end 0/408");
        SpooledChanges held = answered(leader, hold::contents);
        assertThat(replayed(held)).containsExactly("2 bob");
    }

    @Test
    void the_replay_skips_what_committed_before_the_copys_point_and_takes_what_commits_at_it() throws Exception {
        DispatcherFixture leader = leader(StreamingMode.OFF);
        TableHold hold = hold(leader);
        beginHold(leader, hold);
        leader.receives(
                begin(731, "0/2F0"),
                insert(0, DispatcherFixture.USERS, "1", "before"),
                commit("0/2F0"),
                begin(732, "0/300"),
                insert(0, DispatcherFixture.USERS, "2", "at"),
                commit("0/300"),
                begin(733, "0/400"),
                insert(0, DispatcherFixture.USERS, "3", "behind"),
                commit("0/400"));

        SpooledChanges held = answered(leader, hold::contents);

        assertThat(replayed(held)).containsExactly("2 at", "3 behind");
    }

    @Test
    void a_streamed_transaction_that_began_before_the_hold_is_held_when_it_commits() throws Exception {
        DispatcherFixture leader = leader(StreamingMode.ON);
        leader.receives(
                streamStart(731, true),
                relation(731, DispatcherFixture.USERS, "users", "name"),
                insert(731, DispatcherFixture.USERS, "1", "early"),
                streamStop());
        TableHold hold = hold(leader);
        beginHold(leader, hold);
        leader.receives(
                streamStart(731, false),
                insert(732, DispatcherFixture.USERS, "2", "late"),
                streamStop(),
                streamCommit(731, "0/400"));

        SpooledChanges held = answered(leader, hold::contents);

        assertThat(leader.batches()).containsExactly("731 first: ; end 0/408");
        assertThat(replayed(held)).containsExactly("1 early", "2 late");
    }

    @Test
    void after_the_hand_over_the_leader_takes_the_changes_itself() throws Exception {
        DispatcherFixture leader = leader(StreamingMode.OFF);
        TableHold hold = hold(leader);
        beginHold(leader, hold);
        List<String> recorded = new ArrayList<>();

        boolean done = answered(
                leader,
                () -> hold.handOver(SYNC, PATIENCE, rest -> recorded.add("drained"), () -> recorded.add("recorded")));
        leader.receives(begin(731, "0/400"), insert(0, DispatcherFixture.USERS, "1", "ann"), commit("0/400"));

        assertThat(done).isTrue();
        assertThat(recorded).containsExactly("drained", "recorded");
        assertThat(leader.batches()).containsExactly("731 first: 1 ann; end 0/408");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void a_hand_over_that_takes_too_long_has_not_happened() throws Exception {
        DispatcherFixture leader = leader(StreamingMode.OFF);
        TableHold hold = hold(leader);
        beginHold(leader, hold);
        CompletableFuture<Boolean> leaderWentOn = new CompletableFuture<>();
        List<String> recorded = new ArrayList<>();
        CompletableFuture<Boolean> worker = CompletableFuture.supplyAsync(() -> hold.handOver(
                SYNC,
                Duration.ofMillis(1),
                rest -> {
                    boolean unused = leaderWentOn.join();
                },
                () -> recorded.add("recorded")));
        while (!leader.holds.isAsked()) {
            Thread.onSpinWait();
        }

        leader.holds.attend(givenUp -> {}, () -> false);
        leaderWentOn.complete(true);

        assertThat(worker.get(10, TimeUnit.SECONDS)).isFalse();
        assertThat(recorded).isEmpty();
        leader.receives(begin(731, "0/400"), insert(0, DispatcherFixture.USERS, "1", "ann"), commit("0/400"));
        assertThat(leader.batches()).containsExactly("731 first: ; end 0/408");
    }

    @Test
    void an_end_whose_recording_failed_ends_the_leader_too() throws Exception {
        DispatcherFixture leader = leader(StreamingMode.OFF);
        TableHold hold = hold(leader);
        beginHold(leader, hold);
        ApplyException lost = new ApplyException(ApplyException.Kind.CONNECTION, "lost");

        assertThatThrownBy(() -> answered(
                        leader,
                        () -> hold.handOver(SYNC, PATIENCE, rest -> {}, () -> {
                            throw lost;
                        })))
                .isSameAs(lost);
    }

    @Test
    void given_up_the_table_is_skipped_and_its_file_is_gone() throws Exception {
        DispatcherFixture leader = leader(StreamingMode.OFF);
        TableHold hold = hold(leader);
        beginHold(leader, hold);

        hold.giveUp();
        leader.holds.attend(givenUp -> {}, () -> false);
        leader.receives(begin(731, "0/400"), insert(0, DispatcherFixture.USERS, "1", "ann"), commit("0/400"));

        assertThat(leader.batches()).containsExactly("731 first: ; end 0/408");
        assertThat(leader.stats.skippedChanges.sum()).isEqualTo(1);
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void a_table_that_is_removed_is_not_subscribed_to_any_more() throws Exception {
        DispatcherFixture leader = leader(StreamingMode.OFF);
        TableHold hold = hold(leader);

        boolean unused = answered(leader, () -> {
            hold.remove();
            return true;
        });

        assertThat(leader.holds.subscribed().contains(USERS)).isFalse();
    }

    @Test
    void while_somebody_asks_no_transaction_in_progress_may_be_applied() {
        DispatcherFixture leader = leader(StreamingMode.OFF);
        assertThat(leader.holds.allTake(SYNC)).isTrue();

        hold(leader).giveUp();

        assertThat(leader.holds.allTake(SYNC)).isFalse();
        leader.holds.attend(givenUp -> {}, () -> false);
        assertThat(leader.holds.allTake(SYNC)).isFalse();
        leader.holds.set(USERS, new Entry(TableSyncState.SYNCDONE, SYNC));
        assertThat(leader.holds.allTake(SYNC)).isTrue();
        assertThat(leader.holds.allTake(Lsn.parse("0/2FF"))).isFalse();
    }

    @Test
    void nobody_waits_for_a_leader_that_has_ended() {
        DispatcherFixture leader = leader(StreamingMode.OFF);
        leader.holds.end();

        assertThatThrownBy(() -> hold(leader).begin())
                .isInstanceOf(ApplyException.class)
                .hasMessageStartingWith("the stream has ended");
    }

    @Test
    void a_worker_that_is_stopped_does_not_wait_on() {
        DispatcherFixture leader = leader(StreamingMode.OFF);
        workerGivenUp = true;

        assertThatThrownBy(() -> hold(leader).begin())
                .isInstanceOf(ApplyException.class)
                .hasMessage("the table's copy is being stopped");
    }

    @Test
    void the_leader_stands_still_with_everything_committed_while_work_is_done_and_goes_on_when_it_fails()
            throws Exception {
        DispatcherFixture leader = leader(StreamingMode.OFF);

        boolean unused = answered(leader, () -> {
            StandStill.run(leader.holds, () -> workerGivenUp, () -> barriers.add("worked"));
            return true;
        });

        assertThat(barriers).containsExactly("committed", "worked");
        assertThatThrownBy(() -> answered(leader, () -> {
                    StandStill.run(leader.holds, () -> workerGivenUp, () -> {
                        throw new IllegalStateException("refused");
                    });
                    return true;
                }))
                .hasMessage("refused");
        assertThat(barriers).containsExactly("committed", "worked", "committed");
    }

    @Test
    void nothing_is_done_once_the_leader_has_ended() {
        DispatcherFixture leader = leader(StreamingMode.OFF);
        leader.holds.end();

        assertThatThrownBy(() -> StandStill.run(leader.holds, () -> workerGivenUp, () -> barriers.add("worked")))
                .isInstanceOf(ApplyException.class);
        assertThat(barriers).isEmpty();
    }
}
