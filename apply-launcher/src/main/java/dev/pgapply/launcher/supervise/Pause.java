package dev.pgapply.launcher.supervise;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A wait that another thread can end early. */
interface Pause {

    /** Returns after the time, or at once if {@link #wake} was called meanwhile or since the last wait. */
    void await(Duration atMost);

    void wake();

    static Pause ofThreads() {
        Semaphore woken = new Semaphore(0);
        return new Pause() {
            @Override
            public void await(Duration atMost) {
                try {
                    if (woken.tryAcquire(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
                        woken.drainPermits();
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }

            @Override
            public void wake() {
                woken.release();
            }
        };
    }
}
