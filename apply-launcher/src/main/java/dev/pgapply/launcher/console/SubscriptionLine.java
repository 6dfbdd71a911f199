package dev.pgapply.launcher.console;

import dev.pgapply.launcher.text.Amounts;
import dev.pgapply.launcher.text.CopyProgress;
import dev.pgapply.worker.stats.LastError;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stats.TableProgress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** One subscription in one line: a bar with rate and remaining time during the copy, rates and lag afterwards. Owned by one thread. */
final class SubscriptionLine {

    private final SubscriptionStats stats;
    private final Rate copiedRows = new Rate();
    private final Rate copiedBytes = new Rate();
    private final Rate transactions = new Rate();
    private final Rate appliedRows = new Rate();

    SubscriptionLine(SubscriptionStats stats) {
        this.stats = stats;
    }

    boolean isCopying() {
        return stats.status() == SubscriptionStatus.COPYING;
    }

    /** For a terminal. */
    String render(long nanos) {
        String head = stats.subscription() + " " + stats.status().label();
        return switch (stats.status()) {
            case COPYING -> head + " " + copy(nanos, true);
            case CATCHING_UP, STREAMING -> head + " " + applying(nanos);
            case ERROR, RECONNECTING -> head + error();
            case STARTING, WAITING_FOR_SLOT, DISABLED, STANDBY, STOPPING -> head + reason();
        };
    }

    /** The copy for a log line. */
    String renderCopy(long nanos) {
        return copy(nanos, false);
    }

    private String copy(long nanos, boolean bar) {
        List<TableProgress> tables = stats.tables();
        CopyProgress progress = CopyProgress.of(tables);
        double rowRate = copiedRows.add(nanos, progress.rows());
        double byteRate = copiedBytes.add(nanos, progress.bytes());
        String percent = String.format(Locale.ROOT, "%3.0f %%", progress.fraction() * 100);
        return (bar ? CopyProgress.bar(progress.fraction()) + " " : "") + percent.trim() + ", "
                + progress.tablesDone() + " of " + Amounts.counted(progress.tables(), "table", "tables") + ", "
                + Amounts.counted(progress.rows(), "row", "rows") + " (" + Amounts.bytes(progress.bytes()) + "), "
                + Amounts.bytes(Math.round(byteRate)) + "/s, " + left(progress, rowRate);
    }

    private static String left(CopyProgress progress, double rowRate) {
        Duration left = progress.remaining(rowRate);
        if (left == null) {
            return "remaining time unknown";
        }
        return left.isZero() ? "done" : "about " + Amounts.duration(left) + " left";
    }

    private String applying(long nanos) {
        long rows = stats.inserts.sum() + stats.updates.sum() + stats.deletes.sum();
        Duration lag = stats.lag();
        return Amounts.count(Math.round(transactions.add(nanos, stats.transactions.sum()))) + " transactions/s, "
                + Amounts.count(Math.round(appliedRows.add(nanos, rows))) + " rows/s, lag "
                + (lag == null ? "unknown" : Amounts.duration(lag));
    }

    private String error() {
        LastError error = stats.lastError();
        return error == null ? reason() : ": " + error.message();
    }

    private String reason() {
        String reason = stats.statusReason();
        return reason == null ? "" : ": " + reason;
    }
}
