package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.preflight.Finding;
import dev.pgapply.worker.preflight.Preflight;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(name = "check", description = "Finds what would stop a start, and changes nothing.")
final class CheckCommand extends PgapplyCommand {

    @Mixin
    private ConfigFile file = new ConfigFile();

    CheckCommand(CommandContext context) {
        super(context);
    }

    @Override
    int execute() {
        List<SubscriptionOptions> subscriptions = file.read(context()).subscriptions();
        ArrayNode json = JsonNodeFactory.instance.arrayNode();
        boolean failed = false;
        for (SubscriptionOptions options : subscriptions) {
            for (Finding finding : Preflight.run(options)) {
                failed |= finding.severity() == Finding.Severity.ERROR;
                if (common().json()) {
                    json.add(json(options, finding));
                } else {
                    print(options.name() + ": " + finding);
                }
            }
        }
        if (common().json()) {
            print(json.toString());
        }
        return failed ? FAILED : DONE;
    }

    private static ObjectNode json(SubscriptionOptions options, Finding finding) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("subscription", options.name())
                .put("severity", finding.severity().label())
                .put("code", finding.code())
                .put("message", finding.message())
                .put("hint", finding.hint());
    }
}
