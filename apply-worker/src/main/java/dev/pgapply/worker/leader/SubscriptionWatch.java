package dev.pgapply.worker.leader;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Looks after a life of a subscription from outside while its leader may be waiting: one thread {@code watch/<subscription>} that
 * calls its duties about every second and reports the first that fails.
 */
final class SubscriptionWatch implements AutoCloseable {

    private static final Duration PERIOD = Duration.ofSeconds(1);

    /** What is looked after; throws what ends the subscription's life. */
    @FunctionalInterface
    interface Duty {
        void attend();
    }

    private final Duty duty;
    private final Consumer<ApplyException> failed;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread;

    private SubscriptionWatch(String subscription, Duty duty, Consumer<ApplyException> failed) {
        this.duty = duty;
        this.failed = failed;
        this.thread = new Thread(this::run, "watch/" + subscription);
    }

    /** @param failed told once, on the watch's thread; the watch has ended then */
    static SubscriptionWatch start(String subscription, Duty duty, Consumer<ApplyException> failed) {
        SubscriptionWatch watch = new SubscriptionWatch(subscription, duty, failed);
        watch.thread.setDaemon(true);
        watch.thread.start();
        return watch;
    }

    private void run() {
        try {
            while (!closed.await(PERIOD.toMillis(), TimeUnit.MILLISECONDS)) {
                duty.attend();
            }
        } catch (ApplyException e) {
            failed.accept(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            failed.accept(new ApplyException(Kind.INTERNAL, "the watch failed: " + e, e));
        }
    }

    /** Does not wait for the thread, which may be in a call to a server. */
    @Override
    public void close() {
        closed.countDown();
    }
}
