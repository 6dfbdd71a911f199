package dev.pgapply.launcher.cli;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.subscription.SubscriptionOptions;
import dev.pgapply.launcher.config.ConfigReader;
import dev.pgapply.launcher.config.LauncherConfig;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The option {@code -c FILE}. */
final class ConfigFile {

    @Option(
            names = {"-c", "--config"},
            required = true,
            paramLabel = "FILE",
            description = "the configuration file")
    private Path file = Path.of("");

    LauncherConfig read(CommandContext context) {
        return new ConfigReader(context.environment(), context.user()).read(file);
    }

    SubscriptionOptions readOne(CommandContext context, String name) {
        LauncherConfig config = read(context);
        return config.subscriptions().stream()
                .filter(options -> options.name().equals(name))
                .findFirst()
                .orElseThrow(() -> ApplyException.withHint(
                        Kind.CONFIGURATION,
                        "there is no subscription \"" + name + "\" in \"" + file + "\"",
                        "there are "
                                + config.subscriptions().stream()
                                        .map(options -> "\"" + options.name() + "\"")
                                        .toList()));
    }
}
