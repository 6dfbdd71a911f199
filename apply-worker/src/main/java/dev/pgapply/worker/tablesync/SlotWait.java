package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.core.tablesync.BlockingTransaction;
import dev.pgapply.core.tablesync.SlotWaitState;
import dev.pgapply.core.tablesync.SnapshotBuild;
import dev.pgapply.core.tablesync.SnapshotBuildPhase;
import dev.pgapply.worker.publisher.PublisherTransactions;
import dev.pgapply.worker.publisher.SlotCreation;
import dev.pgapply.worker.publisher.SlotCreation.Created;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stream.Ticker;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates a slot on a thread of its own, and meanwhile follows the publisher's snapshot builder and tells which transactions it waits
 * for: in the log, in {@link SubscriptionStats#slotWait}, and for the subscription's own slot in status waiting_for_slot. Owned by the thread
 * that runs the copy. Used once.
 */
final class SlotWait {

    private static final Logger log = LoggerFactory.getLogger(SlotWait.class);

    private static final long LOOK_AGAIN_MILLIS = 500;
    private static final long CANCEL_PATIENCE_SECONDS = 10;
    private static final int SHOWN_TRANSACTIONS = 10;

    private final String subscription;
    private final String slotName;
    private final @Nullable QualifiedName table;
    private final Connection publisher;
    private final SubscriptionStats stats;
    private final Duration timeout;
    private final Ticker ticker;

    private SnapshotBuild build = SnapshotBuild.START;
    private boolean shown;

    /**
     * @param options says how long the creation may take
     * @param table whose copy the slot is for; null: the subscription's own slot
     * @param publisher another session than the one that creates the slot
     */
    SlotWait(
            SubscriptionOptions options,
            String slotName,
            @Nullable QualifiedName table,
            Connection publisher,
            SubscriptionStats stats,
            Ticker ticker) {
        this.subscription = options.name();
        this.timeout = options.slotCreateTimeout();
        this.slotName = slotName;
        this.table = table;
        this.publisher = publisher;
        this.stats = stats;
        this.ticker = ticker;
    }

    /**
     * Creates the slot; when this fails there is none, unless the connection was lost.
     *
     * @throws ApplyException of kind PRECONDITION if a slot of that name exists, or it took longer than the timeout
     */
    Created create(SlotCreation creation, int major) {
        FutureTask<Created> task = new FutureTask<>(() -> creation.create(major));
        new Thread(task, "tablesync/" + subscription + "/slot").start();
        long begun = ticker.nanos();
        try {
            look();
            while (true) {
                try {
                    return task.get(LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS);
                } catch (TimeoutException e) {
                    SlotWaitState state = look();
                    show(state);
                    if (!timeout.isZero() && ticker.nanos() - begun >= timeout.toNanos()) {
                        return giveUp(creation, task, state);
                    }
                }
            }
        } catch (ExecutionException e) {
            throw failed(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApplyException(Kind.CONNECTION, "interrupted while the replication slot was created", e);
        } finally {
            stats.setSlotWait(slotName, null);
        }
    }

    /** What the publisher's transactions tell now. */
    private SlotWaitState look() {
        PublisherTransactions seen = PublisherTransactions.read(publisher);
        SnapshotBuild before = build;
        // The builder has not ended although it should have: it noted its round later than this estimate did.
        build = (before.phase() == SnapshotBuildPhase.CONSISTENT ? SnapshotBuild.START : before).after(seen.running());
        List<BlockingTransaction> oldest = seen.transactions().stream()
                .filter(transaction -> build.waitsFor(transaction.xid()))
                .limit(SHOWN_TRANSACTIONS)
                .toList();
        SlotWaitState state = new SlotWaitState(table, build.phase(), build.waitedFor(seen.running()), oldest);
        if (before.phase() != build.phase() && shown) {
            log.info(
                    "subscription \"{}\": {} -> {}: {}", subscription, before.phase(), build.phase(), state.sentence());
        }
        return state;
    }

    private void show(SlotWaitState state) {
        // First, so that whoever sees the status finds what is waited for.
        stats.setSlotWait(slotName, state);
        if (!state.oldest().isEmpty()) {
            if (table == null) {
                stats.transition(SubscriptionStatus.WAITING_FOR_SLOT, state.sentence());
            } else if (!shown) {
                log.info("subscription \"{}\": table \"{}\": {}", subscription, table, state.sentence());
            }
            shown = true;
        }
    }

    /** Cancelled, the publisher leaves no slot. It may have been made in the same moment: then it is taken. */
    private Created giveUp(SlotCreation creation, FutureTask<Created> task, SlotWaitState state)
            throws InterruptedException {
        creation.cancel();
        try {
            return task.get(CANCEL_PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new ApplyException(
                    Kind.CONNECTION,
                    "the publisher did not give up creating the replication slot when it was told to",
                    e);
        } catch (ExecutionException e) {
            throw new ApplyException(
                    Kind.PRECONDITION,
                    "the replication slot was not created within slot_create_timeout (" + timeout.toSeconds() + " s): "
                            + state.sentence(),
                    "end the transaction on the publisher (SELECT pg_terminate_backend(pid), or ROLLBACK PREPARED), or set a longer"
                            + " slot_create_timeout",
                    null,
                    null,
                    failed(e));
        }
    }

    private static ApplyException failed(ExecutionException e) {
        return e.getCause() instanceof ApplyException failure
                ? failure
                : new ApplyException(Kind.INTERNAL, "could not create the replication slot", e.getCause());
    }
}
