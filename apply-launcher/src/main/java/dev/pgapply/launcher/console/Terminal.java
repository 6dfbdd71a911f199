package dev.pgapply.launcher.console;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Stderr with at most one status line at its end: a log line is written above it. Thread-safe.
 */
public final class Terminal {

    private static final String CLEAR_LINE = "\r\u001b[K";

    private final PrintStream stream;
    private final boolean interactive;
    private final int columns;
    private String status = "";

    /**
     * @param interactive whether a person looks at it, so that a line may be overwritten
     * @param columns a longer status line is cut, because a wrapped one could not be overwritten
     */
    public Terminal(PrintStream stream, boolean interactive, int columns) {
        this.stream = stream;
        this.interactive = interactive;
        this.columns = columns;
    }

    /** Whether stderr is a terminal. Linux says so; elsewhere it counts as none, and log lines replace the status line. */
    public static boolean isStderrInteractive() {
        try {
            String device = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return device.startsWith("/dev/pts/") || device.startsWith("/dev/tty") || device.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }

    public boolean isInteractive() {
        return interactive;
    }

    /** Writes whole lines. */
    public synchronized void print(String lines) {
        if (!status.isEmpty()) {
            stream.print(CLEAR_LINE);
        }
        stream.print(lines);
        stream.print(status);
        stream.flush();
    }

    /** Replaces the status line; empty removes it. Without a terminal it does nothing. */
    public synchronized void status(String line) {
        String cut = line.length() < columns ? line : line.substring(0, columns - 1);
        if (!interactive || cut.equals(status)) {
            return;
        }
        status = cut;
        stream.print(CLEAR_LINE + cut);
        stream.flush();
    }
}
