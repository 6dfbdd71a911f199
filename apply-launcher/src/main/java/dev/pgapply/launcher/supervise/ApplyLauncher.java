package dev.pgapply.launcher.supervise;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All subscriptions of the process (PostgreSQL's logical replication launcher): starts a supervising thread for each, and ends them
 * together. Started and stopped once, by the process's main thread and its shutdown.
 */
public final class ApplyLauncher {

    private static final Logger log = LoggerFactory.getLogger(ApplyLauncher.class);

    private final List<SubscriptionSupervisor> supervisors;
    private final List<Thread> threads = new ArrayList<>();

    public ApplyLauncher(List<SubscriptionSupervisor> supervisors) {
        this.supervisors = List.copyOf(supervisors);
    }

    /** In the order of the configuration. */
    public List<SubscriptionSupervisor> supervisors() {
        return supervisors;
    }

    public @Nullable SubscriptionSupervisor find(String name) {
        for (SubscriptionSupervisor supervisor : supervisors) {
            if (supervisor.options().name().equals(name)) {
                return supervisor;
            }
        }
        return null;
    }

    public synchronized void start() {
        for (SubscriptionSupervisor supervisor : supervisors) {
            Thread thread = new Thread(
                    supervisor::run, "supervisor/" + supervisor.options().name());
            threads.add(thread);
            thread.start();
        }
    }

    /**
     * Stops all subscriptions at the same time and waits for them.
     *
     * @return whether all have ended within the patience; those that have not are named in the log
     */
    public synchronized boolean stop(Duration patience) {
        supervisors.forEach(SubscriptionSupervisor::stop);
        long deadline = System.nanoTime() + patience.toNanos();
        boolean all = true;
        for (Thread thread : threads) {
            try {
                long left = Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()));
                thread.join(left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            if (thread.isAlive()) {
                log.warn(
                        "{} has not ended within {} s; nothing is lost, its last transaction is repeated at the next start",
                        thread.getName(),
                        patience.toSeconds());
                all = false;
            }
        }
        return all;
    }
}
