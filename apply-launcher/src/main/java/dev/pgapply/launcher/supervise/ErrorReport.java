package dev.pgapply.launcher.supervise;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Context;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.ApplyException.Remedy;
import dev.pgapply.worker.stats.LastError;
import dev.pgapply.worker.stats.SubscriptionStats;
import java.time.Clock;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of a failure in the status and the log. A failure that comes again is counted, and logged at its 2nd, 4th, 8th … time only.
 * Owned by the supervising thread.
 */
final class ErrorReport {

    private static final Logger log = LoggerFactory.getLogger(ErrorReport.class);

    private final SubscriptionStats stats;
    private final Clock clock;

    ErrorReport(SubscriptionStats stats, Clock clock) {
        this.stats = stats;
        this.clock = clock;
    }

    void report(ApplyException failure) {
        Context context = failure.context();
        LastError error = new LastError(
                failure.getMessage(),
                context == null ? null : context.sentence(),
                context == null ? null : context.relation(),
                context == null ? null : context.xid(),
                context == null ? null : context.finishLsn(),
                clock.instant(),
                1,
                failure.hint());
        LastError previous = stats.lastError();
        if (previous != null
                && previous.message().equals(error.message())
                && Objects.equals(previous.context(), error.context())) {
            error = counted(error, previous.count() + 1);
        }
        stats.setLastError(error);
        if (Long.bitCount(error.count()) == 1) {
            write(failure, sentence(error));
        }
    }

    private static LastError counted(LastError error, long count) {
        return new LastError(
                error.message(),
                error.context(),
                error.relation(),
                error.xid(),
                error.finishLsn(),
                error.at(),
                count,
                error.hint());
    }

    private String sentence(LastError error) {
        return "subscription \"" + stats.subscription() + "\": " + error.message()
                + (error.context() == null ? "" : "; context: " + error.context())
                + (error.hint() == null ? "" : "; hint: " + error.hint())
                + (error.count() == 1 ? "" : " (" + error.count() + " times)");
    }

    /** What goes away by itself is a warning; the trace of calls is for whoever mends pgapply. */
    private static void write(ApplyException failure, String sentence) {
        if (failure.kind().remedy() == Remedy.RECONNECT && failure.kind() != Kind.AUTHENTICATION) {
            log.warn("{}", sentence);
        } else {
            log.error("{}", sentence);
        }
        log.debug("where it was thrown", failure);
    }
}
