package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import picocli.CommandLine.Command;

@Command(name = "version", description = "Prints the version.")
final class VersionCommand extends PgapplyCommand {

    VersionCommand(CommandContext context) {
        super(context);
    }

    @Override
    int execute() {
        String java = System.getProperty("java.version", "unknown");
        print(
                common().json()
                        ? JsonNodeFactory.instance
                                .objectNode()
                                .put("version", context().version())
                                .put("java", java)
                                .toString()
                        : "pgapply " + context().version() + " (Java " + java + ")");
        return DONE;
    }
}
