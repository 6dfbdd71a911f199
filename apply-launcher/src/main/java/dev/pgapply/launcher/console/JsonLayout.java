package dev.pgapply.launcher.console;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One JSON object a line: time, level, thread, logger, message, and of the keys those that are set. A subscription's threads are named
 * after it, so that its lines have the key also where nobody has set it.
 */
final class JsonLayout extends LayoutBase<ILoggingEvent> {

    private static final String SUBSCRIPTION = "subscription";
    private static final List<String> KEYS = List.of(SUBSCRIPTION, "xid", "finishLsn", "relation", "worker");

    private static final Set<String> THREADS_OF_SUBSCRIPTION =
            Set.of("supervisor", "receiver", "leader-apply", "apply-session");

    private final boolean traces;

    JsonLayout(boolean traces) {
        this.traces = traces;
    }

    @Override
    public String doLayout(ILoggingEvent event) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("time", event.getInstant().toString());
        json.put("level", event.getLevel().toString());
        json.put("thread", event.getThreadName());
        json.put("logger", event.getLoggerName());
        json.put("message", event.getFormattedMessage());
        String ofThread = subscriptionOf(event.getThreadName());
        for (String key : KEYS) {
            String value = event.getMDCPropertyMap().get(key);
            if (value == null && key.equals(SUBSCRIPTION)) {
                value = ofThread;
            }
            if (value != null) {
                json.put(key, value);
            }
        }
        if (traces && event.getThrowableProxy() != null) {
            json.put("trace", ThrowableProxyUtil.asString(event.getThrowableProxy()));
        }
        return json + "\n";
    }

    /** {@code receiver/<sub>}, {@code leader-apply/<sub>}; null for a thread that belongs to none. */
    private static @Nullable String subscriptionOf(String thread) {
        int slash = thread.indexOf('/');
        if (slash < 1) {
            return null;
        }
        if (THREADS_OF_SUBSCRIPTION.contains(thread.substring(0, slash))) {
            return thread.substring(slash + 1);
        }
        // tablesync/<sub>/<schema>.<table>
        int last = thread.lastIndexOf('/');
        return thread.startsWith("tablesync/") && last > slash ? thread.substring(slash + 1, last) : null;
    }
}
