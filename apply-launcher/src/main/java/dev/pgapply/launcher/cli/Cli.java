package dev.pgapply.launcher.cli;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The whole command line. */
public final class Cli {

    @Command(
            name = "pgapply",
            description = "Applies PostgreSQL logical replication from outside the database.",
            synopsisSubcommandLabel = "COMMAND")
    static final class Root implements Runnable {
        @Spec
        private @Nullable CommandSpec spec;

        @Override
        public void run() {
            if (spec != null) {
                throw new ParameterException(spec.commandLine(), "a command is missing");
            }
        }
    }

    private Cli() {}

    /** Runs one command and gives the exit code. */
    public static int execute(CommandContext context, EngineRunner engine, String... arguments) {
        CommandLine commandLine = new CommandLine(new Root())
                .addSubcommand(new RunCommand(context, engine))
                .addSubcommand(new CheckCommand(context))
                .addSubcommand(new StatusCommand(context))
                .addSubcommand(new EnableCommand(context))
                .addSubcommand(new DisableCommand(context))
                .addSubcommand(new RefreshCommand(context))
                .addSubcommand(new ResyncCommand(context))
                .addSubcommand(new DropCommand(context))
                .addSubcommand(new SequencesCommand(context))
                .addSubcommand(new VersionCommand(context))
                .addSubcommand(new CommandLine.HelpCommand());
        commandLine.setParameterExceptionHandler((e, given) -> wrongUsage(context, e));
        commandLine.setOut(new PrintWriter(context.out(), true, StandardCharsets.UTF_8));
        return commandLine.execute(arguments);
    }

    private static int wrongUsage(CommandContext context, ParameterException e) {
        CommandLine command = e.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        String message = String.valueOf(e.getMessage());
        String hint = "see pgapply help" + (name.equals("pgapply") ? "" : name.substring("pgapply".length()));
        if (e instanceof UnmatchedArgumentException unmatched
                && !unmatched.getSuggestions().isEmpty()) {
            hint = "did you mean " + unmatched.getSuggestions().get(0) + "? " + hint;
        }
        boolean json = false;
        for (ParseResult result = command.getParseResult(); result != null; result = result.subcommand()) {
            json |= result.hasMatchedOption("--json");
        }
        context.terminal().print(ErrorText.of(firstLetterLower(message), hint, json));
        return PgapplyCommand.WRONG_USAGE;
    }

    private static String firstLetterLower(String message) {
        return message.isEmpty() ? message : Character.toLowerCase(message.charAt(0)) + message.substring(1);
    }
}
