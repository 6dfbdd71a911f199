package dev.pgapply.worker.tablesync;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.worker.publisher.BlockingTransaction;
import dev.pgapply.worker.publisher.PublisherCatalog;
import dev.pgapply.worker.publisher.SlotCreation;
import dev.pgapply.worker.publisher.SlotCreation.Created;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Creates the slot on a thread of its own, and meanwhile tells which transaction it waits for: status waiting_for_slot. Owned by the
 * thread that runs the copy.
 */
final class SlotWait {

    private static final long LOOK_AGAIN_MILLIS = 1_000;

    private final String subscription;
    private final PublisherCatalog catalog;
    private final SubscriptionStats stats;

    /** @param catalog on another session than the one that creates the slot */
    SlotWait(String subscription, PublisherCatalog catalog, SubscriptionStats stats) {
        this.subscription = subscription;
        this.catalog = catalog;
        this.stats = stats;
    }

    Created create(SlotCreation creation, int major) {
        FutureTask<Created> task = new FutureTask<>(() -> creation.create(major));
        new Thread(task, "tablesync/" + subscription + "/slot").start();
        while (true) {
            try {
                return task.get(LOOK_AGAIN_MILLIS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                showWait();
            } catch (ExecutionException e) {
                if (e.getCause() instanceof ApplyException failure) {
                    throw failure;
                }
                throw new ApplyException(Kind.INTERNAL, "could not create the replication slot", e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new ApplyException(Kind.CONNECTION, "interrupted while the replication slot was created", e);
            }
        }
    }

    private void showWait() {
        BlockingTransaction oldest = catalog.oldestTransaction();
        if (oldest != null) {
            stats.transition(SubscriptionStatus.WAITING_FOR_SLOT, oldest.sentence());
        }
    }
}
