package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(name = "status", description = "Shows the subscriptions of a running engine.")
final class StatusCommand extends PgapplyCommand {

    private static final long WATCH_SECONDS = 2;
    private static final String CLEAR_SCREEN = "\u001b[H\u001b[2J";

    @Mixin
    private ClientOptions client = new ClientOptions();

    @Option(names = "--watch", description = "again every 2 seconds, until Ctrl-C")
    private boolean watch;

    StatusCommand(CommandContext context) {
        super(context);
    }

    @Override
    int execute() {
        EngineClient engine = client.client(context());
        show(engine.subscriptions());
        CountDownLatch never = new CountDownLatch(1);
        try {
            while (watch && !never.await(WATCH_SECONDS, TimeUnit.SECONDS)) {
                show(engine.subscriptions());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return DONE;
    }

    private void show(JsonNode subscriptions) {
        if (common().json()) {
            print(subscriptions.toString());
            return;
        }
        String clear = watch && context().terminal().isInteractive() ? CLEAR_SCREEN : "";
        print(clear + StatusText.all(subscriptions).stripTrailing());
    }
}
