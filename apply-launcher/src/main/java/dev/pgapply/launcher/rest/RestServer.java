package dev.pgapply.launcher.rest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.launcher.config.HttpAddress;
import dev.pgapply.launcher.supervise.ApplyLauncher;
import dev.pgapply.launcher.supervise.Refusal;
import dev.pgapply.launcher.supervise.SubscriptionSupervisor;
import dev.pgapply.worker.stats.SubscriptionStatus;
import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Objects;
import java.util.function.Supplier;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP server. Handlers run on Jetty's threads and only read statistics, or hand a command to the subscription's supervisor. A
 * bearer token, where one is set, guards all but {@code /health}.
 */
public final class RestServer implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(RestServer.class);
    private static final String API = "/api/v1/subscriptions";
    private static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";
    private static final String TABLE_HINT = "send {\"table\": \"public.orders\"}, the name quoted as in SQL";
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final int MAX_THREADS = 12;
    private static final int MIN_THREADS = 2;

    private final ApplyLauncher launcher;
    private final Supplier<String> metrics;
    private final byte @Nullable [] token;
    private @Nullable ServerSocketChannel channel;
    private @Nullable Javalin javalin;

    /** @param metrics Prometheus' text, made at each request */
    public RestServer(ApplyLauncher launcher, Supplier<String> metrics, @Nullable String token) {
        this.launcher = launcher;
        this.metrics = metrics;
        this.token = token == null ? null : token.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Binds the address. Requests are taken and wait until {@link #serve}.
     *
     * @return the address with the port that was bound, which matters where port 0 was asked for
     * @throws ApplyException PRECONDITION if the address cannot be bound
     */
    public HttpAddress bind(HttpAddress address) {
        try {
            ServerSocketChannel opened = ServerSocketChannel.open();
            channel = opened;
            opened.bind(new InetSocketAddress(address.host(), address.port()));
            return new HttpAddress(address.host(), opened.socket().getLocalPort());
        } catch (IOException | UnresolvedAddressException e) {
            close();
            throw ApplyException.withHint(
                    Kind.PRECONDITION,
                    "HTTP address " + address + " cannot be bound: " + reason(e),
                    "end what uses the port, or set another http.address");
        }
    }

    /** Answers what comes to the bound address. Takes a good part of a second in a JVM that has just begun. */
    public void serve() {
        ServerSocketChannel bound = Objects.requireNonNull(channel, "not bound");
        javalin = Javalin.create(config -> {
                    configure(config);
                    config.jetty.addConnector((server, http) -> connector(server, http, bound));
                })
                .start();
    }

    private static Connector connector(Server server, HttpConfiguration http, ServerSocketChannel bound) {
        ServerConnector connector = new ServerConnector(server, new HttpConnectionFactory(http));
        try {
            connector.open(bound);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return connector;
    }

    private static String reason(Exception failure) {
        return failure instanceof UnresolvedAddressException ? "unknown host" : String.valueOf(failure.getMessage());
    }

    @Override
    public void close() {
        if (javalin != null) {
            javalin.stop();
        }
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            log.debug("could not close the HTTP server's socket", e);
        }
    }

    private void configure(JavalinConfig config) {
        config.startup.showJavalinBanner = false;
        config.startup.showOldJavalinVersionWarning = false;
        config.startup.startupWatcherEnabled = false;
        config.jetty.threadPool = new QueuedThreadPool(MAX_THREADS, MIN_THREADS);
        config.jetty.modifyHttpConfiguration(http -> {
            http.setSendServerVersion(false);
            // A subscription's name may be anything, also with a slash, which a client sends as %2F.
            http.setUriCompliance(UriCompliance.UNSAFE);
        });
        config.jetty.modifyServletContextHandler(
                context -> context.getServletHandler().setDecodeAmbiguousURIs(true));
        config.routes
                .before(this::requireToken)
                .get(
                        "/health/live",
                        context -> answer(
                                context, JsonNodeFactory.instance.objectNode().put("live", true)))
                .get("/health/ready", this::ready)
                .get("/metrics", context -> context.contentType(PROMETHEUS_TEXT).result(metrics.get()))
                .get(API, context -> answer(context, all()))
                .get(API + "/{name}", context -> answer(context, SubscriptionJson.subscription(named(context))))
                .get(
                        API + "/{name}/origin",
                        context -> answer(
                                context,
                                SubscriptionJson.origin(named(context).stats().origin())))
                .get(
                        API + "/{name}/tables",
                        context -> answer(
                                context,
                                SubscriptionJson.tables(named(context).stats().tables())))
                .get(
                        API + "/{name}/streams",
                        context -> answer(
                                context,
                                SubscriptionJson.streams(named(context).stats().streams())))
                .get(
                        API + "/{name}/workers",
                        context -> answer(
                                context, SubscriptionJson.workers(named(context).stats())))
                .post(API + "/{name}/enable", context -> command(context, SubscriptionSupervisor::enable))
                .post(API + "/{name}/disable", context -> command(context, SubscriptionSupervisor::disable))
                .post(API + "/{name}/refresh", context -> command(context, SubscriptionSupervisor::refresh))
                .post(API + "/{name}/resync", this::resync)
                .exception(HttpFailure.class, (e, context) -> fail(context, e.status(), e.getMessage(), e.hint()))
                .exception(Refusal.class, (e, context) -> fail(context, 409, e.getMessage(), e.hint()))
                .exception(ApplyException.class, (e, context) -> fail(context, 503, e.getMessage(), e.hint()))
                .exception(HttpResponseException.class, RestServer::ofTheServer)
                .exception(Exception.class, this::unexpected);
    }

    private static void ofTheServer(HttpResponseException failure, Context context) {
        if (failure.getStatus() == 404) {
            fail(
                    context,
                    404,
                    "no such path: " + context.method() + " " + context.path(),
                    "paths begin with /health, /metrics or " + API);
        } else {
            fail(context, failure.getStatus(), failure.getMessage(), null);
        }
    }

    private void unexpected(Exception failure, Context context) {
        log.error("request {} {} failed: {}", context.method(), context.path(), failure.toString());
        log.debug("where it was thrown", failure);
        fail(context, 500, "the request failed inside the engine", "the engine's log says more");
    }

    private void requireToken(Context context) {
        byte[] expected = token;
        if (expected == null || context.path().startsWith("/health/")) {
            return;
        }
        String header = context.header("Authorization");
        String given = header != null && header.regionMatches(true, 0, "Bearer ", 0, 7)
                ? header.substring(7).trim()
                : "";
        // Takes the same time wherever the first difference is.
        if (!MessageDigest.isEqual(expected, given.getBytes(StandardCharsets.UTF_8))) {
            context.header("WWW-Authenticate", "Bearer");
            throw new HttpFailure(
                    401, "the token is missing or wrong", "send Authorization: Bearer with the configured http.token");
        }
    }

    private void ready(Context context) {
        ArrayNode standby = JsonNodeFactory.instance.arrayNode();
        ArrayNode notReady = JsonNodeFactory.instance.arrayNode();
        for (SubscriptionSupervisor supervisor : launcher.supervisors()) {
            SubscriptionStatus status = supervisor.stats().status();
            if (status == SubscriptionStatus.STANDBY) {
                standby.add(supervisor.options().name());
            } else if (supervisor.isEnabled() && !status.isReady()) {
                notReady.add(supervisor.options().name());
            }
        }
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.put("ready", notReady.isEmpty());
        body.set("standby", standby);
        body.set("not_ready", notReady);
        context.status(notReady.isEmpty() ? 200 : 503);
        answer(context, body);
    }

    private ArrayNode all() {
        ArrayNode all = JsonNodeFactory.instance.arrayNode();
        for (SubscriptionSupervisor supervisor : launcher.supervisors()) {
            all.add(SubscriptionJson.subscription(supervisor));
        }
        return all;
    }

    private SubscriptionSupervisor named(Context context) {
        String name = context.pathParam("name");
        SubscriptionSupervisor supervisor = launcher.find(name);
        if (supervisor == null) {
            throw new HttpFailure(
                    404,
                    "there is no subscription \"" + name + "\"",
                    "there are "
                            + launcher.supervisors().stream()
                                    .map(known -> "\"" + known.options().name() + "\"")
                                    .toList());
        }
        return supervisor;
    }

    private void resync(Context context) {
        QualifiedName table = table(context.body());
        command(context, supervisor -> supervisor.resync(table));
    }

    /** What the body of a request names: {@code {"table": "public.orders"}}. */
    private static QualifiedName table(String body) {
        try {
            JsonNode given = body.isBlank() ? null : MAPPER.readTree(body).get("table");
            if (given != null && given.isTextual()) {
                return QualifiedName.parse(given.asText());
            }
        } catch (JsonProcessingException e) {
            log.debug("a body that is no JSON", e);
        } catch (IllegalArgumentException e) {
            throw new HttpFailure(400, String.valueOf(e.getMessage()), TABLE_HINT);
        }
        throw new HttpFailure(400, "the body names no table", TABLE_HINT);
    }

    private interface Command {
        void on(SubscriptionSupervisor supervisor);
    }

    private void command(Context context, Command command) {
        SubscriptionSupervisor supervisor = named(context);
        command.on(supervisor);
        answer(context, SubscriptionJson.subscription(supervisor));
    }

    private static void fail(Context context, int status, @Nullable String message, @Nullable String hint) {
        context.status(status);
        answer(
                context,
                JsonNodeFactory.instance.objectNode().put("error", message).put("hint", hint));
    }

    private static void answer(Context context, JsonNode body) {
        context.contentType("application/json").result(body.toString());
    }
}
