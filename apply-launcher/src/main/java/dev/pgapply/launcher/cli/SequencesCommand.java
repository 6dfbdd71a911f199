package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.worker.tablesync.SequenceCopy;
import dev.pgapply.worker.tablesync.SequenceOutcome;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "sequences",
        description = "Brings the target's sequences to where the publisher's stand, for the cut-over; never back.")
final class SequencesCommand extends PgapplyCommand {

    @Mixin
    private ConfigFile file = new ConfigFile();

    @Option(
            names = "--margin",
            paramLabel = "N",
            description = "skip so many steps of each sequence (0)",
            defaultValue = "0")
    private long margin;

    @Parameters(paramLabel = "NAME", description = "the subscription")
    private String name = "";

    SequencesCommand(CommandContext context) {
        super(context);
    }

    @Override
    int execute() {
        if (margin < 0) {
            throw ApplyException.withHint(
                    Kind.CONFIGURATION,
                    "--margin must not be negative, was " + margin,
                    "give a number of steps, 0 or more");
        }
        SubscriptionOptions options = file.readOne(context(), name);
        List<SequenceOutcome> outcomes = new SequenceCopy(options, margin).run();
        if (common().json()) {
            ArrayNode json = JsonNodeFactory.instance.arrayNode();
            outcomes.forEach(outcome -> json.add(json(outcome)));
            print(json.toString());
        } else {
            outcomes.forEach(outcome -> print(outcome.toString()));
        }
        return outcomes.stream().anyMatch(outcome -> outcome.result() == SequenceOutcome.Result.FAILED) ? FAILED : DONE;
    }

    private static ObjectNode json(SequenceOutcome outcome) {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("schema", outcome.name().schema())
                .put("sequence", outcome.name().name())
                .put("result", outcome.result().label());
        QualifiedName target = outcome.target();
        return json.put("target", target == null ? null : target.toString())
                .put("next_value", outcome.next())
                .put("next_value_before", outcome.before())
                .put("message", outcome.message())
                .put("hint", outcome.hint());
    }
}
