package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.pgapply.launcher.config.HttpAddress;
import dev.pgapply.launcher.config.LauncherConfig;
import dev.pgapply.launcher.config.StateDirectory;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(name = "run", description = "Runs the engine until SIGTERM or Ctrl-C.")
final class RunCommand extends PgapplyCommand {

    private final EngineRunner engine;

    @Mixin
    private ConfigFile file = new ConfigFile();

    RunCommand(CommandContext context, EngineRunner engine) {
        super(context);
        this.engine = engine;
    }

    @Override
    int execute() {
        LauncherConfig config = file.read(context());
        Path configured = config.stateDirectory();
        Path path = configured != null
                ? configured
                : StateDirectory.defaultPath(context().environment(), Path.of(System.getProperty("user.home", "/")));
        try (StateDirectory state = StateDirectory.open(path)) {
            engine.run(config, state, address -> started(config, address));
        }
        return DONE;
    }

    private void started(LauncherConfig config, HttpAddress address) {
        if (!common().json()) {
            return;
        }
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("url", "http://" + address);
        ArrayNode names = json.putArray("subscriptions");
        config.subscriptions().forEach(options -> names.add(options.name()));
        print(json.toString());
    }
}
