package dev.pgapply.launcher.console;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** One JSON object a line: time, level, thread, logger, message, and of the keys those that are set. */
final class JsonLayout extends LayoutBase<ILoggingEvent> {

    private static final List<String> KEYS = List.of("subscription", "xid", "finishLsn", "relation", "worker");

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
        for (String key : KEYS) {
            String value = event.getMDCPropertyMap().get(key);
            if (value != null) {
                json.put(key, value);
            }
        }
        if (traces && event.getThrowableProxy() != null) {
            json.put("trace", ThrowableProxyUtil.asString(event.getThrowableProxy()));
        }
        return json + "\n";
    }
}
