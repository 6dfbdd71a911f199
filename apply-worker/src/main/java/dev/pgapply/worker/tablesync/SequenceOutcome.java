package dev.pgapply.worker.tablesync;

import dev.pgapply.core.QualifiedName;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What has become of one sequence of the publisher.
 *
 * @param name on the publisher
 * @param target on the target, null where it is absent
 * @param next what nextval gives on the target afterwards, null where that is not known
 * @param before what it gave before, null where that is not known
 * @param message why it failed or was left, null where the rest says it all
 * @param hint what one can do about it, or null
 */
public record SequenceOutcome(
        QualifiedName name,
        @Nullable QualifiedName target,
        Result result,
        @Nullable String next,
        @Nullable String before,
        @Nullable String message,
        @Nullable String hint) {

    /** The outcome in a word. */
    public enum Result {
        SET,
        UNCHANGED,
        AHEAD,
        ABSENT,
        FAILED;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** One line: {@code public.t_id_seq: set, next value 201 (was 1)}. */
    @Override
    public String toString() {
        String renamed = target == null || target.equals(name) ? "" : " (" + target + " on the target)";
        return name + renamed + ": " + result.label() + (next == null ? "" : ", next value " + next)
                + (before == null || before.equals(next) ? "" : " (was " + before + ")")
                + (message == null ? "" : ", " + message) + (hint == null ? "" : " (hint: " + hint + ")");
    }
}
