package dev.pgapply.launcher.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a command that speaks to a running engine. */
final class ClientOptions {

    private static final String DEFAULT_URL = "http://127.0.0.1:8080";

    @Option(
            names = "--url",
            paramLabel = "URL",
            description = "the engine (default: PGAPPLY_URL, else " + DEFAULT_URL + ")")
    private @Nullable String url;

    @Option(names = "--token", paramLabel = "TOKEN", description = "the engine's token (default: PGAPPLY_TOKEN)")
    private @Nullable String token;

    EngineClient client(CommandContext context) {
        String address = url != null ? url : context.environment().getOrDefault("PGAPPLY_URL", "");
        String secret = token != null ? token : context.environment().get("PGAPPLY_TOKEN");
        return new EngineClient(address.isEmpty() ? DEFAULT_URL : address, secret);
    }
}
