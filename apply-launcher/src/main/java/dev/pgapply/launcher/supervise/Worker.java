package dev.pgapply.launcher.supervise;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.QualifiedName;

/** One life of a subscription, from the takeover to an error or the end. */
public interface Worker {

    /**
     * Lives on the supervising thread. Returns when {@link #stop} was called, or when it found the subscription disabled in the
     * target. When it returns or throws, all its threads have ended and slot and lock are given back.
     *
     * @throws ApplyException whose kind says what is to be done
     */
    void run();

    /** Asks {@link #run} to commit what is complete and return; from any thread, also before {@link #run}, and harmless when repeated. */
    void stop();

    /**
     * Takes up tables that were added to the publications, and lets go of those that have left; from any thread.
     *
     * @throws ApplyException of kind PRECONDITION if that is not possible now
     */
    void refresh();

    /**
     * Has a table's copy redone; from any thread.
     *
     * @throws ApplyException of kind PRECONDITION if that is not possible now, or there is no such table
     */
    void resync(QualifiedName table);

    /** Makes a worker for each life. Creating one does nothing yet. */
    @FunctionalInterface
    interface Factory {
        Worker create();
    }
}
