package dev.pgapply.core.subscription;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Whether big transactions are sent before they commit: the option {@code streaming} (CREATE SUBSCRIPTION). */
public enum StreamingMode {
    /** A transaction is sent when it has committed; the publisher spills it to its disk until then. */
    OFF,
    /** Sent while in progress (publishers from 14 on), spooled here, and applied when it has committed. */
    ON,
    /** Sent while in progress (publishers from 16 on) and applied at once by a parallel apply worker, where one is free. */
    PARALLEL;

    private static final int STREAMING_SINCE = 140000;
    private static final int PARALLEL_SINCE = 160000;

    /**
     * The most of it that a publisher can do (subscriptioncmds.c and worker.c, set_stream_options: older publishers are asked for less).
     *
     * @param serverVersionNum the publisher's {@code server_version_num}
     */
    public StreamingMode offeredBy(int serverVersionNum) {
        return switch (this) {
            case OFF -> OFF;
            case ON -> serverVersionNum >= STREAMING_SINCE ? ON : OFF;
            case PARALLEL -> serverVersionNum >= PARALLEL_SINCE ? PARALLEL : ON.offeredBy(serverVersionNum);
        };
    }

    /** What to say where a publisher can do less, null where it can do all of it. */
    public @Nullable String lessOffered(int serverVersionNum) {
        StreamingMode offered = offeredBy(serverVersionNum);
        return offered == this
                ? null
                : "streaming = " + label() + " needs a newer publisher than PostgreSQL " + serverVersionNum / 10_000
                        + "; " + offered.label() + " is used";
    }

    private String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
