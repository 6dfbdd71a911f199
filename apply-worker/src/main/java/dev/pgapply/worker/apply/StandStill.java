package dev.pgapply.worker.apply;

import dev.pgapply.core.ApplyException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * Something that another thread does on the target while the leader apply worker stands still between two transactions, with everything
 * committed that it has dispatched: the tables that are in step are as they were on the publisher at one moment, and no lock of the leader
 * is in the way.
 */
public final class StandStill implements TableHolds.Request {

    private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

    /** The leader stands still; by the leader. */
    private final CompletableFuture<Boolean> standing = new CompletableFuture<>();

    /** It may go on; by the asker. */
    private final CompletableFuture<Boolean> done = new CompletableFuture<>();

    private StandStill() {}

    /**
     * Runs the work on the caller's thread.
     *
     * @param givenUp asked again and again until the leader stands still; true ends the wait with an exception
     * @throws ApplyException if the leader ends before it stands still, or the wait was given up; nothing was done then
     */
    public static void run(TableHolds holds, BooleanSupplier givenUp, Runnable work) {
        StandStill request = new StandStill();
        holds.ask(request);
        try {
            boolean unused = TableHold.await(request.standing, givenUp);
            work.run();
        } finally {
            request.done.complete(true);
        }
    }

    @Override
    public void attend(TableHolds holds, TableHolds.Barrier barrier, BooleanSupplier leaderGivenUp) {
        try {
            barrier.commitAll(leaderGivenUp);
        } catch (ApplyException e) {
            standing.completeExceptionally(e);
            return;
        }
        standing.complete(true);
        while (TableHold.await(done, LOOK_AGAIN) == null && !leaderGivenUp.getAsBoolean()) {
            // The work goes on.
        }
    }

    @Override
    public void refuse(ApplyException reason) {
        standing.completeExceptionally(reason);
    }
}
