package dev.pgapply.launcher.console;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import ch.qos.logback.core.Layout;
import java.util.List;
import java.util.logging.LogManager;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/** Sets logging up in code: one appender, to the terminal, as text or as a JSON object a line. Called by the main thread. */
public final class Logging {

    /** How a log line looks. */
    public enum Format {
        TEXT,
        JSON
    }

    /** They log their own life in detail; only what is wrong with it is of interest. */
    private static final List<String> QUIET = List.of("org.eclipse.jetty", "io.micrometer", "io.prometheus");

    private Logging() {}

    /** Replaces whatever was set up before. */
    public static void configure(String level, Format format, Terminal terminal) {
        // The driver logs through java.util.logging what it also throws.
        LogManager.getLogManager().reset();
        ILoggerFactory factory = LoggerFactory.getILoggerFactory();
        if (!(factory instanceof LoggerContext context)) {
            throw new IllegalStateException("logback is not the logger: " + factory.getClass());
        }
        context.reset();
        boolean traces = Level.toLevel(level).toInt() <= Level.DEBUG_INT;
        Layout<ILoggingEvent> layout = format == Format.JSON ? new JsonLayout(traces) : new TextLayout(traces);
        layout.setContext(context);
        layout.start();
        TerminalAppender appender = new TerminalAppender(layout, terminal);
        appender.setContext(context);
        appender.start();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.toLevel(level));
        root.addAppender(appender);
        QUIET.forEach(name -> context.getLogger(name).setLevel(Level.WARN));
        // It logs what it also throws, with a trace.
        context.getLogger("io.javalin").setLevel(Level.OFF);
    }

    private static final class TerminalAppender extends AppenderBase<ILoggingEvent> {
        private final Layout<ILoggingEvent> layout;
        private final Terminal terminal;

        TerminalAppender(Layout<ILoggingEvent> layout, Terminal terminal) {
            this.layout = layout;
            this.terminal = terminal;
            setName("stderr");
        }

        @Override
        protected void append(ILoggingEvent event) {
            terminal.print(layout.doLayout(event));
        }
    }
}
