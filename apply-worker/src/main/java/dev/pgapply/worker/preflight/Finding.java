package dev.pgapply.worker.preflight;

import dev.pgapply.core.ApplyException.Kind;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One thing that a preflight has looked at, as one line.
 *
 * @param code which check it is, stable across releases: {@code publisher_wal_level}
 * @param message what was found, for people
 * @param hint what one can do about it, or null
 * @param kind what a start that meets it fails with, so that a lost connection is tried again and a wrong set-up is not
 */
public record Finding(
        Severity severity,
        String code,
        String message,
        @Nullable String hint,
        Kind kind) {

    /** What a finding means for the start. */
    public enum Severity {
        OK,
        /** The subscription can start, but the operator should know. */
        WARNING,
        /** The subscription cannot start, or will stop at the first change of that kind. */
        ERROR;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** {@code error: publisher's wal_level is "replica" (hint: …)}, one line. */
    @Override
    public String toString() {
        return severity.label() + ": " + message + (hint == null ? "" : " (hint: " + hint + ")");
    }
}
