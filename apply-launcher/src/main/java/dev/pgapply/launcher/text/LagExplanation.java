package dev.pgapply.launcher.text;

import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.TableProgress;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Says in one sentence how far behind the target is, and why. */
public final class LagExplanation {

    private LagExplanation() {}

    public static String of(SubscriptionStats stats) {
        return switch (stats.status()) {
            case STARTING -> "the subscription is starting" + reason(stats);
            case WAITING_FOR_SLOT ->
                "the publisher is creating the slot, which waits for its running transactions" + reason(stats);
            case COPYING -> copying(stats);
            case CATCHING_UP -> "the target is catching up: it is " + distance(stats);
            case STREAMING -> streaming(stats);
            case RECONNECTING -> "a connection is lost and is tried again" + reason(stats);
            case ERROR -> "a change or a setting stops the subscription, and it is tried again" + reason(stats);
            case DISABLED -> "the subscription is disabled" + reason(stats) + ", and the publisher keeps its changes";
            case STANDBY -> "another engine has the subscription" + reason(stats);
            case STOPPING -> "the subscription is stopping";
        };
    }

    private static String reason(SubscriptionStats stats) {
        String reason = stats.statusReason();
        return reason == null ? "" : " (" + reason + ")";
    }

    private static String copying(SubscriptionStats stats) {
        String step = stats.creation().step();
        if (step != null) {
            return "the tables are copied and what they still lack is created: " + step + " ("
                    + stats.creation().done() + " of " + stats.creation().total()
                    + " done); changes made meanwhile follow after it";
        }
        List<TableProgress> tables = stats.tables();
        long done = tables.stream()
                .filter(t -> t.state() == 's' || t.state() == 'r')
                .count();
        return "the first copy is running: " + done + " of " + Amounts.counted(tables.size(), "table", "tables")
                + " done; changes made meanwhile follow after it";
    }

    private static String streaming(SubscriptionStats stats) {
        Duration lag = stats.lag();
        Long bytes = stats.lagBytes();
        if (lag != null && lag.isZero() && (bytes == null || bytes == 0)) {
            return "the target has everything that the publisher has committed";
        }
        if (lag != null && lag.isZero()) {
            return "the target has every transaction received, and " + bytesText(bytes)
                    + " of WAL were written since the publisher last heard from it or are still to be decoded";
        }
        return "the target is " + distance(stats);
    }

    private static String distance(SubscriptionStats stats) {
        Duration lag = stats.lag();
        Long bytes = stats.lagBytes();
        if (lag == null) {
            return "behind by an amount that is not known before the publisher is connected";
        }
        return Amounts.duration(lag) + (bytes == null ? "" : " and " + bytesText(bytes) + " of WAL") + " behind";
    }

    private static String bytesText(@Nullable Long bytes) {
        return bytes == null ? "an unknown amount" : Amounts.bytes(bytes);
    }
}
