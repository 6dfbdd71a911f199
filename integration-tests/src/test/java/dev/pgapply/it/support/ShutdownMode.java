package dev.pgapply.it.support;

/** How a server ends, in the words of pg_ctl. */
public enum ShutdownMode {
    /** Waits for clients to leave. */
    SMART("TERM"),
    /** Disconnects clients; walsenders first send all that is left. */
    FAST("INT"),
    /** Without a checkpoint: the next start is a recovery. */
    IMMEDIATE("QUIT");

    private final String signal;

    ShutdownMode(String signal) {
        this.signal = signal;
    }

    String signal() {
        return signal;
    }
}
