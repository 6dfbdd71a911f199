package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.databind.JsonNode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "refresh",
        description = "Takes up tables that were added to the publications, and lets go of those that have left.")
final class RefreshCommand extends PgapplyCommand {

    @Mixin
    private ClientOptions client = new ClientOptions();

    @Parameters(paramLabel = "NAME", description = "the subscription")
    private String name = "";

    RefreshCommand(CommandContext context) {
        super(context);
    }

    @Override
    int execute() {
        JsonNode state = client.client(context()).command(name, "refresh");
        print(common().json() ? state.toString() : StatusText.one(state).stripTrailing());
        return DONE;
    }
}
