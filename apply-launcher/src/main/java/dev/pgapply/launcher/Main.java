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

/** The entry point of the process: gives the command line the outside world. */
public final class Main {

    private static final int DEFAULT_COLUMNS = 100;

    private Main() {}

    public static void main(String[] arguments) {
        Map<String, String> environment = System.getenv();
        Terminal terminal = new Terminal(stream(FileDescriptor.err), isInteractive(environment), columns(environment));
        CommandContext context = new CommandContext(
                environment, System.getProperty("user.name", ""), stream(FileDescriptor.out), terminal, version());
        System.exit(Cli.execute(context, new Engine(terminal), arguments));
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
