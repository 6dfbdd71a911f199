package dev.pgapply.launcher.cli;

import dev.pgapply.launcher.console.Logging;
import java.util.Locale;
import picocli.CommandLine.Option;

/** What every command takes. */
final class CommonOptions {

    /** The levels of the log. */
    enum LogLevel {
        error,
        warn,
        info,
        debug,
        trace
    }

    /** The formats of the log. */
    enum LogFormat {
        text,
        json
    }

    @Option(names = "--json", description = "results as JSON")
    private boolean json;

    @Option(names = "--log-level", description = "error, warn, info (default), debug or trace", defaultValue = "info")
    private LogLevel logLevel = LogLevel.info;

    @Option(names = "--log-format", description = "text (default) or json", defaultValue = "text")
    private LogFormat logFormat = LogFormat.text;

    boolean json() {
        return json;
    }

    boolean isDebug() {
        return logLevel.compareTo(LogLevel.debug) >= 0;
    }

    String level() {
        return logLevel.name();
    }

    Logging.Format format() {
        return Logging.Format.valueOf(logFormat.name().toUpperCase(Locale.ROOT));
    }
}
