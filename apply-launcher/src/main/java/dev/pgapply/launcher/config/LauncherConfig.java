package dev.pgapply.launcher.config;

import dev.pgapply.core.subscription.SubscriptionOptions;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything the process is told, validated once. Its text holds no secret.
 *
 * @param httpToken what a client must present as bearer token; null: anyone may ask
 * @param stateDirectory null where the default is to be found
 * @param subscriptions in the order of the file
 */
public record LauncherConfig(
        HttpAddress httpAddress,
        @Nullable String httpToken,
        @Nullable Path stateDirectory,
        List<SubscriptionOptions> subscriptions) {

    public LauncherConfig {
        subscriptions = List.copyOf(subscriptions);
    }

    @Override
    public String toString() {
        return "http " + httpAddress + (httpToken == null ? "" : " with a token") + ", "
                + subscriptions.stream().map(SubscriptionOptions::name).toList();
    }
}
