package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.databind.JsonNode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "disable", description = "Disables a subscription of a running engine until enable, across restarts.")
final class DisableCommand extends PgapplyCommand {

    @Mixin
    private ClientOptions client = new ClientOptions();

    @Parameters(paramLabel = "NAME", description = "the subscription")
    private String name = "";

    DisableCommand(CommandContext context) {
        super(context);
    }

    @Override
    int execute() {
        JsonNode state = client.client(context()).command(name, "disable");
        print(common().json() ? state.toString() : StatusText.one(state).stripTrailing());
        return DONE;
    }
}
