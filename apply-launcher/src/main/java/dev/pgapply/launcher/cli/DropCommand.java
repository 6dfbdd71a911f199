package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.catalog.SubscriptionCatalog;
import dev.pgapply.worker.catalog.SubscriptionDrop;
import dev.pgapply.worker.catalog.SubscriptionDrop.SlotEnd;
import java.security.SecureRandom;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "drop",
        description = "Ends a subscription that no engine has: removes its slot, its origin and its state; rows stay.")
final class DropCommand extends PgapplyCommand {

    @Mixin
    private ConfigFile file = new ConfigFile();

    @Parameters(paramLabel = "NAME", description = "the subscription")
    private String name = "";

    @Option(names = "--keep-slot", description = "leave the slot and do not ask the publisher, which is gone for good")
    private boolean keepSlot;

    DropCommand(CommandContext context) {
        super(context);
    }

    @Override
    int execute() {
        SubscriptionOptions options = file.readOne(context(), name);
        List<String> removed = new SubscriptionDrop(options, new SubscriptionCatalog(new SecureRandom()))
                .run(keepSlot ? SlotEnd.KEPT : SlotEnd.DROPPED);
        if (common().json()) {
            ObjectNode json = JsonNodeFactory.instance.objectNode().put("name", name);
            ArrayNode list = json.putArray("removed");
            removed.forEach(list::add);
            print(json.toString());
        } else {
            removed.forEach(this::print);
        }
        return DONE;
    }
}
