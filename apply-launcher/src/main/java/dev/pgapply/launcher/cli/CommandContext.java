package dev.pgapply.launcher.cli;

import dev.pgapply.launcher.console.Terminal;
import java.io.PrintStream;
import java.util.Map;

/**
 * What the process gives its commands.
 *
 * @param environment the environment's variables
 * @param user the operating system's user
 * @param out where results go
 * @param terminal where everything else goes
 * @param version of pgapply
 */
public record CommandContext(
        Map<String, String> environment, String user, PrintStream out, Terminal terminal, String version) {}
