package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.spool.SpooledChanges;
import dev.pgapply.core.tablesync.SubscribedTables;
import dev.pgapply.core.tablesync.TableSyncState;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a table sync worker asks of the leader apply worker for its table. Owned by the table sync worker's thread; each method hands a
 * request over and waits until the leader has done it between two transactions.
 *
 * <pre>
 *   begin ──► held ──handOver──► frozen ──drained──► recorded ──► taken by the leader
 *              ▲                   │
 *              └───── too slow ────┘
 *   giveUp: from everywhere
 * </pre>
 */
public final class TableHold {

    private static final Duration LOOK_AGAIN = Duration.ofMillis(50);

    private final TableHolds holds;
    private final QualifiedName table;
    private final BooleanSupplier givenUp;
    private final CompletableFuture<ApplyException> broken = new CompletableFuture<>();

    /** @param givenUp asked again and again; true ends every wait with an exception */
    public TableHold(TableHolds holds, QualifiedName table, BooleanSupplier givenUp) {
        this.holds = holds;
        this.table = table;
        this.givenUp = givenUp;
    }

    /** Something that is done on the leader's thread and gives an answer. */
    private interface Step<T> {
        T take(TableHolds holds, TableHolds.Barrier barrier, BooleanSupplier leaderGivenUp);
    }

    /** A step, and the answer that its asker waits for. */
    private record Asked<T>(Step<T> step, CompletableFuture<T> answer) implements TableHolds.Request {

        @Override
        public void attend(TableHolds holds, TableHolds.Barrier barrier, BooleanSupplier leaderGivenUp) {
            try {
                answer.complete(step.take(holds, barrier, leaderGivenUp));
            } catch (ApplyException e) {
                answer.completeExceptionally(e);
            }
        }

        @Override
        public void refuse(ApplyException reason) {
            answer.completeExceptionally(reason);
        }
    }

    private <T> T ask(Step<T> step) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        holds.ask(new Asked<>(step, answer));
        return await(answer, givenUp);
    }

    static <T> T await(CompletableFuture<T> answer, BooleanSupplier givenUp) {
        while (true) {
            T given = await(answer, LOOK_AGAIN);
            if (given != null) {
                return given;
            }
            if (givenUp.getAsBoolean()) {
                throw new ApplyException(Kind.TRANSIENT, "the table's copy is being stopped");
            }
        }
    }

    /** Null if there is no answer in time. */
    static <T> @Nullable T await(CompletableFuture<T> answer, Duration atMost) {
        try {
            return answer.get(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return null;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ApplyException failure) {
                throw failure;
            }
            throw new ApplyException(Kind.INTERNAL, "a hand-over failed: " + e.getCause(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApplyException(Kind.TRANSIENT, "interrupted during a hand-over", e);
        }
    }

    /**
     * Holds the table back. When this returns, everything that came before is committed, and every later change of the table is kept for
     * {@link #contents}.
     */
    public void begin() {
        Boolean unused = ask((leader, barrier, leaderGivenUp) -> {
            barrier.commitAll(leaderGivenUp);
            leader.hold(table, broken);
            return true;
        });
    }

    /** Why the leader could not go on holding the changes back, or null if it does. Any thread. */
    public @Nullable ApplyException failure() {
        return broken.getNow(null);
    }

    /** What is held back up to now. */
    public SpooledChanges contents() {
        return ask((leader, barrier, leaderGivenUp) -> leader.held(table).contents());
    }

    /**
     * Hands the table over to the leader, which stands still meanwhile: everything that it has dispatched is committed, the last changes
     * held back are replayed, the copy is recorded as done, and from then on the leader takes the table's changes.
     *
     * @param syncLsn where the copy is consistent
     * @param patience how long the leader may stand still for the replay; after that it goes on, and nothing has happened
     * @param drain replays what is left
     * @param record commits that the copy is done; no failure of it is taken for an outcome
     * @return false if the patience was not enough
     */
    public boolean handOver(Lsn syncLsn, Duration patience, Consumer<SpooledChanges> drain, Runnable record) {
        HandOver request = new HandOver(table, syncLsn, patience);
        holds.ask(request);
        try {
            drain.accept(await(request.frozen, givenUp));
        } catch (RuntimeException | Error e) {
            request.decided.complete(false);
            throw e;
        }
        if (!request.decided.complete(true)) {
            return false;
        }
        try {
            record.run();
        } catch (RuntimeException | Error e) {
            request.done.completeExceptionally(e);
            throw e;
        }
        request.done.complete(true);
        Boolean unused = await(request.taken, givenUp);
        return true;
    }

    /** The leader stands still between two transactions while the worker does the rest. */
    private static final class HandOver implements TableHolds.Request {

        final QualifiedName table;
        final Lsn syncLsn;
        final Duration patience;

        /** What is left to replay; by the leader. */
        final CompletableFuture<SpooledChanges> frozen = new CompletableFuture<>();

        /** Who is first decides: the worker, that it records the end now; the leader, that it goes on without. */
        final CompletableFuture<Boolean> decided = new CompletableFuture<>();

        /** The end is recorded; by the worker. */
        final CompletableFuture<Boolean> done = new CompletableFuture<>();

        /** The leader takes the table's changes; by the leader. */
        final CompletableFuture<Boolean> taken = new CompletableFuture<>();

        HandOver(QualifiedName table, Lsn syncLsn, Duration patience) {
            this.table = table;
            this.syncLsn = syncLsn;
            this.patience = patience;
        }

        @Override
        public void attend(TableHolds holds, TableHolds.Barrier barrier, BooleanSupplier leaderGivenUp) {
            SpooledChanges rest;
            try {
                barrier.commitAll(leaderGivenUp);
                rest = holds.held(table).contents();
            } catch (ApplyException e) {
                frozen.completeExceptionally(e);
                return;
            }
            frozen.complete(rest);
            if (!awaitDrained(leaderGivenUp)) {
                return;
            }
            Boolean recorded = null;
            while (recorded == null && !leaderGivenUp.getAsBoolean()) {
                // A failure leaves open whether the end is recorded: it ends the leader's life, too, and the next asks
                // the target.
                recorded = await(done, LOOK_AGAIN);
            }
            if (recorded != null) {
                holds.set(table, new SubscribedTables.Entry(TableSyncState.SYNCDONE, syncLsn));
                taken.complete(true);
            }
        }

        private boolean awaitDrained(BooleanSupplier leaderGivenUp) {
            Boolean decision = null;
            for (Duration left = patience;
                    decision == null && !left.isNegative() && !leaderGivenUp.getAsBoolean();
                    left = left.minus(LOOK_AGAIN)) {
                decision = await(decided, LOOK_AGAIN);
            }
            return decision != null ? decision : !decided.complete(false);
        }

        @Override
        public void refuse(ApplyException reason) {
            frozen.completeExceptionally(reason);
        }
    }

    /** The table stands otherwise from now on; its changes are held back no longer. */
    public void set(SubscribedTables.Entry entry) {
        Boolean unused = ask((leader, barrier, leaderGivenUp) -> {
            leader.set(table, entry);
            return true;
        });
    }

    /** The table is not part of the subscription any more. */
    public void remove() {
        Boolean unused = ask((leader, barrier, leaderGivenUp) -> {
            leader.remove(table);
            return true;
        });
    }

    /** The copy has failed: the table's changes are skipped until it is held again. Does not wait. */
    public void giveUp() {
        holds.ask(new Asked<>(
                (leader, barrier, leaderGivenUp) -> {
                    leader.set(table, new SubscribedTables.Entry(TableSyncState.DATASYNC, null));
                    return true;
                },
                new CompletableFuture<>()));
    }
}
