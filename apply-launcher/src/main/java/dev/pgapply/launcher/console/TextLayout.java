package dev.pgapply.launcher.console;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** {@code 2026-11-30 15:04:05.678Z INFO  [leader-apply/orders] message}; traces of calls only where they were asked for. */
final class TextLayout extends LayoutBase<ILoggingEvent> {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private final boolean traces;

    TextLayout(boolean traces) {
        this.traces = traces;
    }

    @Override
    public String doLayout(ILoggingEvent event) {
        StringBuilder line = new StringBuilder(160);
        line.append(TIME.format(event.getInstant()))
                .append(' ')
                .append(String.format("%-5s", event.getLevel()))
                .append(" [")
                .append(event.getThreadName())
                .append("] ")
                .append(event.getFormattedMessage())
                .append('\n');
        if (traces && event.getThrowableProxy() != null) {
            line.append(ThrowableProxyUtil.asString(event.getThrowableProxy())).append('\n');
        }
        return line.toString();
    }
}
