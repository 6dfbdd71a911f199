package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.databind.JsonNode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "enable", description = "Enables a subscription of a running engine, across restarts.")
final class EnableCommand extends PgapplyCommand {

    @Mixin
    private ClientOptions client = new ClientOptions();

    @Parameters(paramLabel = "NAME", description = "the subscription")
    private String name = "";

    EnableCommand(CommandContext context) {
        super(context);
    }

    @Override
    int execute() {
        JsonNode state = client.client(context()).command(name, "enable");
        print(common().json() ? state.toString() : StatusText.one(state).stripTrailing());
        return DONE;
    }
}
