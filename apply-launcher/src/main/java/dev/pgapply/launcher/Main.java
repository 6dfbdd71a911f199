package dev.pgapply.launcher;

import dev.pgapply.launcher.cli.Cli;
import dev.pgapply.launcher.cli.CommandContext;
import dev.pgapply.launcher.console.Terminal;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;

/** The entry point of the process: gives the command line the outside world. */
public final class Main {

    private static final int DEFAULT_COLUMNS = 100;

    private Main() {}

    public static void main(String[] arguments) {
        Map<String, String> environment = System.getenv();
        Terminal terminal = new Terminal(stream(FileDescriptor.err), isInteractive(environment), columns(environment));
        System.exit(execute(environment, stream(FileDescriptor.out), terminal, Ending.bySignal(), arguments));
    }

    /**
     * One command in a JVM that goes on afterwards, such as a test's. It takes over the JVM's logging, so there is one at a time.
     *
     * @param end ends the command {@code run} when it is counted down
     * @return the exit code
     */
    public static int execute(
            Map<String, String> environment,
            PrintStream out,
            Terminal terminal,
            CountDownLatch end,
            String... arguments) {
        return execute(environment, out, terminal, Ending.byLatch(end), arguments);
    }

    private static int execute(
            Map<String, String> environment, PrintStream out, Terminal terminal, Ending ending, String... arguments) {
        CommandContext context =
                new CommandContext(environment, System.getProperty("user.name", ""), out, terminal, version());
        return Cli.execute(context, new Engine(terminal, ending), arguments);
    }

    private static PrintStream stream(FileDescriptor descriptor) {
        return new PrintStream(new FileOutputStream(descriptor), false, StandardCharsets.UTF_8);
    }

    private static boolean isInteractive(Map<String, String> environment) {
        return !"dumb".equals(environment.get("TERM")) && Terminal.isStderrInteractive();
    }

    private static int columns(Map<String, String> environment) {
        String columns = environment.getOrDefault("COLUMNS", "");
        return columns.matches("[1-9][0-9]{1,3}") ? Integer.parseInt(columns) : DEFAULT_COLUMNS;
    }

    private static String version() {
        Properties properties = new Properties();
        try (InputStream resource = Main.class.getResourceAsStream("version.properties")) {
            if (resource != null) {
                properties.load(resource);
            }
        } catch (IOException e) {
            return "unknown";
        }
        return properties.getProperty("version", "unknown");
    }
}
