package dev.pgapply.core.subscription;

/** Whether big transactions are sent before they commit: the option {@code streaming} (CREATE SUBSCRIPTION). */
public enum StreamingMode {
    /** A transaction is sent when it has committed; the publisher spills it to its disk until then. */
    OFF,
    /** Sent while in progress (publishers from 14 on), spooled here, and applied when it has committed. */
    ON,
    /** Sent while in progress (publishers from 16 on) and applied at once by a parallel apply worker, where one is free. */
    PARALLEL
}
