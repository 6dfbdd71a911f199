package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "resync", description = "Empties one table of a subscription and copies it again.")
final class ResyncCommand extends PgapplyCommand {

    @Mixin
    private ClientOptions client = new ClientOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "the subscription")
    private String name = "";

    @Parameters(index = "1", paramLabel = "TABLE", description = "schema.table, quoted as in SQL")
    private String table = "";

    ResyncCommand(CommandContext context) {
        super(context);
    }

    @Override
    int execute() {
        JsonNode state = client.client(context())
                .command(name, "resync", JsonNodeFactory.instance.objectNode().put("table", table));
        print(common().json() ? state.toString() : StatusText.one(state).stripTrailing());
        return DONE;
    }
}
