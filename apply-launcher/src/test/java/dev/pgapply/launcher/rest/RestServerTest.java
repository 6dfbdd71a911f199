package dev.pgapply.launcher.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import dev.pgapply.core.Lsn;
import dev.pgapply.core.QualifiedName;
import dev.pgapply.core.Xid;
import dev.pgapply.core.tablesync.BlockingTransaction;
import dev.pgapply.core.tablesync.SlotWaitState;
import dev.pgapply.core.tablesync.SnapshotBuildPhase;
import dev.pgapply.core.transaction.TransApplyAction;
import dev.pgapply.launcher.config.HttpAddress;
import dev.pgapply.launcher.supervise.ApplyLauncher;
import dev.pgapply.launcher.supervise.SupervisorFixture;
import dev.pgapply.worker.stats.LastError;
import dev.pgapply.worker.stats.StreamProgress;
import dev.pgapply.worker.stats.SubscriptionStats;
import dev.pgapply.worker.stats.SubscriptionStatus;
import dev.pgapply.worker.stats.TableProgress;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RestServerTest {

    private static final HttpAddress ANY_PORT = new HttpAddress("127.0.0.1", 0);

    private final SupervisorFixture orders = SupervisorFixture.living("orders", true);
    private final SupervisorFixture odd = SupervisorFixture.living("Größe/1 %", false);
    private final ApplyLauncher launcher = new ApplyLauncher(List.of(orders.supervisor, odd.supervisor));
    private final HttpClient client = HttpClient.newHttpClient();
    private final ObjectMapper mapper = new ObjectMapper();
    private final List<RestServer> servers = new ArrayList<>();

    @AfterEach
    void stop() {
        servers.forEach(RestServer::close);
        launcher.stop(Duration.ofSeconds(10));
    }

    private HttpAddress start(@Nullable String token) {
        RestServer server = new RestServer(launcher, () -> "pgapply_x 1\n", token);
        servers.add(server);
        HttpAddress bound = server.bind(ANY_PORT);
        server.serve();
        return bound;
    }

    private HttpResponse<String> send(HttpAddress at, String method, String path, @Nullable String authorization) {
        return send(at, method, path, authorization, "");
    }

    private HttpResponse<String> send(
            HttpAddress at, String method, String path, @Nullable String authorization, String body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://" + at + path))
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        try {
            return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(method + " " + path, e);
        }
    }

    private HttpResponse<String> get(HttpAddress at, String path) {
        return send(at, "GET", path, null);
    }

    private JsonNode json(HttpResponse<String> response) {
        try {
            assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
            return mapper.readTree(response.body());
        } catch (IOException e) {
            throw new AssertionError(response.body(), e);
        }
    }

    private static List<String> fields(JsonNode json) {
        List<String> names = new ArrayList<>();
        json.fieldNames().forEachRemaining(names::add);
        return names;
    }

    @Test
    void a_subscription_has_these_fields() {
        SubscriptionStats stats = orders.stats;
        stats.transition(SubscriptionStatus.STREAMING, null);
        stats.setConnected(true);
        stats.setReceivedLsn(new Lsn(0x16B374D848L));
        stats.setFeedback(new Lsn(4), new Lsn(2), new Lsn(3));
        stats.setPublisherFlushLsn(new Lsn(0x102));
        stats.setLastMessage(SupervisorFixture.NOW, SupervisorFixture.NOW.plusMillis(5));
        stats.setOldestPendingCommitTime(SupervisorFixture.NOW.minusMillis(1500));
        stats.setLastError(
                new LastError("m", "c", "public.t", new Xid(-1), new Lsn(255), SupervisorFixture.NOW, 3, "h"));

        HttpResponse<String> response = get(start(null), "/api/v1/subscriptions/orders");

        JsonNode json = json(response);
        assertThat(fields(json))
                .containsExactly(
                        "name",
                        "enabled",
                        "status",
                        "status_reason",
                        "publisher",
                        "target",
                        "received_lsn",
                        "write_lsn",
                        "flush_lsn",
                        "apply_lsn",
                        "latest_end_lsn",
                        "last_msg_send_time",
                        "last_msg_receipt_time",
                        "lag",
                        "copy",
                        "slot_wait",
                        "create_tables",
                        "last_error");
        assertThat(json.path("status").asText()).isEqualTo("streaming");
        assertThat(json.path("publisher").asText()).isEqualTo("postgresql://repl@db1:5432/shop");
        assertThat(json.path("received_lsn").asText()).isEqualTo("16/B374D848");
        assertThat(json.path("latest_end_lsn").isNull()).isTrue();
        assertThat(json.path("last_msg_receipt_time").asText()).isEqualTo("2026-11-30T12:00:00.005Z");
        assertThat(fields(json.path("lag"))).containsExactly("bytes", "seconds", "explanation");
        assertThat(json.path("create_tables").toString())
                .isEqualTo("{\"steps\":0,\"steps_done\":0,\"step\":null,\"not_created\":[]}");
        assertThat(json.path("lag").path("bytes").asLong()).isEqualTo(256);
        assertThat(json.path("lag").path("seconds").asDouble()).isEqualTo(1.5);
        assertThat(json.path("last_error").toString())
                .isEqualTo("{\"message\":\"m\",\"context\":\"c\",\"relation\":\"public.t\",\"xid\":4294967295,"
                        + "\"finish_lsn\":\"0/FF\",\"at\":\"2026-11-30T12:00:00Z\",\"count\":3,\"hint\":\"h\"}");
        assertThat(response.body()).doesNotContain("hush");
    }

    @Test
    void what_is_not_known_is_null() {
        JsonNode json = json(get(start(null), "/api/v1/subscriptions/orders"));

        assertThat(json.path("received_lsn").isNull()).isTrue();
        assertThat(json.path("lag").path("bytes").isNull()).isTrue();
        assertThat(json.path("lag").path("seconds").isNull()).isTrue();
        assertThat(json.path("last_error").isNull()).isTrue();
    }

    @Test
    void the_list_has_all_and_a_name_may_be_odd() {
        HttpAddress at = start(null);

        assertThat(json(get(at, "/api/v1/subscriptions"))).hasSize(2);
        JsonNode json = json(get(at, "/api/v1/subscriptions/Gr%C3%B6%C3%9Fe%2F1%20%25"));

        assertThat(json.path("name").asText()).isEqualTo("Größe/1 %");
        assertThat(json.path("enabled").asBoolean(true)).isFalse();
        assertThat(json.path("status").asText()).isEqualTo("disabled");
    }

    @Test
    void the_origin_is_null_before_it_is_known() {
        HttpAddress at = start(null);
        JsonNode before = json(get(at, "/api/v1/subscriptions/orders/origin"));
        assertThat(before.toString())
                .isEqualTo("{\"origin_name\":null,\"native\":null,\"remote_lsn\":null,\"local_lsn\":null,"
                        + "\"remote_commit_time\":null,\"sessions\":[]}");
        orders.stats.setOrigin(new SubscriptionStats.OriginSnapshot(
                "pgapply_7",
                true,
                new Lsn(16),
                new Lsn(32),
                SupervisorFixture.NOW,
                List.of(new SubscriptionStats.OriginSnapshot.Session("leader", new Lsn(16), null))));

        JsonNode after = json(get(at, "/api/v1/subscriptions/orders/origin"));

        assertThat(after.toString())
                .isEqualTo(
                        "{\"origin_name\":\"pgapply_7\",\"native\":true,\"remote_lsn\":\"0/10\",\"local_lsn\":\"0/20\","
                                + "\"remote_commit_time\":\"2026-11-30T12:00:00Z\","
                                + "\"sessions\":[{\"session\":\"leader\",\"remote_lsn\":\"0/10\",\"local_lsn\":null}]}");
    }

    @Test
    void tables_have_these_fields() {
        orders.stats.setTable(new TableProgress(
                new QualifiedName("public", "t"), 'd', new Lsn(16), 5, 15, 100, 200, Duration.ofSeconds(2), null));
        orders.stats.setTable(new TableProgress(new QualifiedName("public", "u"), 'i', null, 0, -1, 0, -1, null));

        JsonNode json = json(get(start(null), "/api/v1/subscriptions/orders/tables"));

        assertThat(json.toString())
                .isEqualTo(
                        "[{\"schema\":\"public\",\"table\":\"t\",\"state\":\"d\",\"sync_lsn\":\"0/10\",\"rows_copied\":5,"
                                + "\"rows_estimated\":15,\"bytes_copied\":100,\"bytes_estimated\":200,\"rows_per_second\":3,"
                                + "\"bytes_per_second\":50,\"remaining_seconds\":4.0,\"error\":null},"
                                + "{\"schema\":\"public\",\"table\":\"u\",\"state\":\"i\",\"sync_lsn\":null,\"rows_copied\":0,"
                                + "\"rows_estimated\":null,\"bytes_copied\":0,\"bytes_estimated\":null,\"rows_per_second\":0,"
                                + "\"bytes_per_second\":0,\"remaining_seconds\":null,\"error\":null}]");
    }

    @Test
    void a_copy_shows_all_tables_together_and_those_under_way() {
        orders.stats.transition(SubscriptionStatus.COPYING, "2 tables");
        orders.stats.setTable(new TableProgress(
                new QualifiedName("public", "t"), 'd', null, 5, 15, 100, 200, Duration.ofSeconds(2), null));
        orders.stats.setTable(new TableProgress(new QualifiedName("public", "u"), 's', null, 5, 4, 100, 10, null));

        JsonNode copy = json(get(start(null), "/api/v1/subscriptions/orders")).path("copy");

        assertThat(copy.path("tables_copied").asLong()).isEqualTo(1);
        assertThat(copy.path("tables").asLong()).isEqualTo(2);
        assertThat(copy.path("rows_copied").asLong()).isEqualTo(10);
        assertThat(copy.path("rows_estimated").asLong()).isEqualTo(20);
        assertThat(copy.path("fraction").asDouble()).isEqualTo(0.5);
        assertThat(copy.path("remaining_seconds").isNumber()).isTrue();
        assertThat(copy.path("under_way").findValuesAsText("table")).containsExactly("t");
    }

    @Test
    void a_slots_creation_names_who_it_waits_for() {
        orders.stats.setSlotWait(
                "orders",
                new SlotWaitState(
                        new QualifiedName("public", "t"),
                        SnapshotBuildPhase.FULL_SNAPSHOT,
                        2,
                        List.of(
                                new BlockingTransaction(
                                        (1L << 32) + 731,
                                        4711,
                                        null,
                                        "app",
                                        "shop",
                                        Duration.ofSeconds(90),
                                        "UPDATE t"),
                                new BlockingTransaction((1L << 32) + 732, null, "gid", "app", "shop", null, null))));

        JsonNode json = json(get(start(null), "/api/v1/subscriptions/orders"));

        assertThat(json.path("slot_wait").toString())
                .isEqualTo("{\"table\":\"public.t\",\"phase\":\"FULL_SNAPSHOT\",\"waited_for\":2,\"transactions\":["
                        + "{\"xid\":731,\"pid\":4711,\"gid\":null,\"user\":\"app\",\"database\":\"shop\",\"age_seconds\":90.0,"
                        + "\"query\":\"UPDATE t\"},{\"xid\":732,\"pid\":null,\"gid\":\"gid\",\"user\":\"app\",\"database\":\"shop\","
                        + "\"age_seconds\":null,\"query\":null}]}");
    }

    @Test
    void streams_are_a_list_in_the_order_of_their_xids() {
        orders.stats.setStream(new StreamProgress(new Xid(-1), TransApplyAction.LEADER_SERIALIZE, null, 10, 1, 0));
        orders.stats.setStream(new StreamProgress(new Xid(731), TransApplyAction.LEADER_SEND_TO_PARALLEL, 2, 0, 3, 2));

        JsonNode json = json(get(start(null), "/api/v1/subscriptions/orders/streams"));

        assertThat(json.toString())
                .isEqualTo("[{\"xid\":731,\"action\":\"LEADER_SEND_TO_PARALLEL\",\"worker\":2,\"spooled_bytes\":0,"
                        + "\"segments\":3,\"subxacts\":2},{\"xid\":4294967295,\"action\":\"LEADER_SERIALIZE\","
                        + "\"worker\":null,\"spooled_bytes\":10,\"segments\":1,\"subxacts\":0}]");
    }

    @Test
    void readiness_names_those_that_are_not() {
        HttpAddress at = start(null);
        HttpResponse<String> starting = get(at, "/health/ready");
        assertThat(starting.statusCode()).isEqualTo(503);
        assertThat(json(starting).toString()).isEqualTo("{\"ready\":false,\"standby\":[],\"not_ready\":[\"orders\"]}");
        orders.stats.transition(SubscriptionStatus.STANDBY, "pid 1");

        HttpResponse<String> standby = get(at, "/health/ready");

        assertThat(standby.statusCode()).isEqualTo(200);
        assertThat(json(standby).toString()).isEqualTo("{\"ready\":true,\"standby\":[\"orders\"],\"not_ready\":[]}");
        assertThat(get(at, "/health/live").statusCode()).isEqualTo(200);
    }

    @Test
    void metrics_are_text() {
        HttpResponse<String> response = get(start(null), "/metrics");

        assertThat(response.body()).isEqualTo("pgapply_x 1\n");
        assertThat(response.headers().firstValue("Content-Type").orElse("")).startsWith("text/plain; version=0.0.4");
    }

    @Test
    void what_does_not_exist_is_404_with_a_hint() {
        HttpAddress at = start(null);

        HttpResponse<String> unknown = get(at, "/api/v1/subscriptions/nobody");

        assertThat(unknown.statusCode()).isEqualTo(404);
        assertThat(json(unknown).path("error").asText()).isEqualTo("there is no subscription \"nobody\"");
        assertThat(json(unknown).path("hint").asText()).contains("\"orders\"");
        for (String path : List.of("/", "/api/v1/subscriptions/orders/stats")) {
            assertThat(get(at, path).statusCode()).as(path).isEqualTo(404);
            assertThat(json(get(at, path)).path("error").asText()).contains("no such path");
        }
        assertThat(send(at, "POST", "/api/v1/subscriptions/orders/skip", null).statusCode())
                .isEqualTo(404);
    }

    @Test
    void a_token_guards_all_but_health() {
        HttpAddress at = start("s3cret");

        for (String path : List.of("/metrics", "/api/v1/subscriptions", "/api/v1/subscriptions/orders", "/nowhere")) {
            assertThat(get(at, path).statusCode()).as(path).isEqualTo(401);
            assertThat(send(at, "GET", path, "Bearer wrong").statusCode()).isEqualTo(401);
            assertThat(send(at, "GET", path, "Basic s3cret").statusCode()).isEqualTo(401);
        }
        assertThat(send(at, "POST", "/api/v1/subscriptions/orders/disable", null)
                        .statusCode())
                .isEqualTo(401);
        HttpResponse<String> refused = get(at, "/metrics");
        assertThat(json(refused).path("hint").asText()).contains("Bearer");
        assertThat(refused.headers().firstValue("WWW-Authenticate")).hasValue("Bearer");
        assertThat(send(at, "GET", "/api/v1/subscriptions", "Bearer s3cret").statusCode())
                .isEqualTo(200);
        assertThat(get(at, "/health/live").statusCode()).isEqualTo(200);
        assertThat(get(at, "/health/ready").statusCode()).isEqualTo(503);
    }

    @Test
    void disable_and_enable_answer_the_new_state() {
        launcher.start();
        HttpAddress at = start(null);

        JsonNode disabled = json(send(at, "POST", "/api/v1/subscriptions/orders/disable", null));
        JsonNode enabled = json(send(at, "POST", "/api/v1/subscriptions/orders/enable", null));

        assertThat(disabled.path("status").asText()).isEqualTo("disabled");
        assertThat(disabled.path("enabled").asBoolean(true)).isFalse();
        assertThat(enabled.path("enabled").asBoolean()).isTrue();
        assertThat(orders.record.state.enabled()).isTrue();
    }

    @Test
    void refresh_and_resync_reach_the_worker_and_answer_the_state() {
        launcher.start();
        HttpAddress at = start(null);
        await().until(orders::isLiving);

        JsonNode refreshed = json(send(at, "POST", "/api/v1/subscriptions/orders/refresh", null));
        JsonNode resynced = json(
                send(at, "POST", "/api/v1/subscriptions/orders/resync", null, "{\"table\": \"Public.\\\"T\\\"\"}"));

        assertThat(refreshed.path("name").asText()).isEqualTo("orders");
        assertThat(resynced.path("name").asText()).isEqualTo("orders");
        assertThat(orders.commands).containsExactly("refresh", "resync public.T");
    }

    @Test
    void resync_without_a_table_name_is_400() {
        HttpAddress at = start(null);

        for (String body : List.of("", "{}", "{\"table\": 1}", "nonsense", "{\"table\": \"t\"}")) {
            HttpResponse<String> answer = send(at, "POST", "/api/v1/subscriptions/orders/resync", null, body);
            assertThat(answer.statusCode()).as(body).isEqualTo(400);
            assertThat(answer.body()).contains("public.orders");
        }
    }

    @Test
    void what_is_not_possible_now_is_409() {
        launcher.start();
        HttpAddress at = start(null);
        await().until(orders::isLiving);
        orders.refusal = ApplyException.withHint(Kind.PRECONDITION, "not now", "later");

        HttpResponse<String> refused = send(at, "POST", "/api/v1/subscriptions/orders/refresh", null);
        HttpResponse<String> disabled =
                send(at, "POST", "/api/v1/subscriptions/Gr%C3%B6%C3%9Fe%2F1%20%25/refresh", null);

        assertThat(refused.statusCode()).isEqualTo(409);
        assertThat(json(refused).path("error").asText()).isEqualTo("not now");
        assertThat(json(refused).path("hint").asText()).isEqualTo("later");
        assertThat(disabled.statusCode()).isEqualTo(409);
        assertThat(disabled.body()).contains("does not stream now");
    }

    @Test
    void a_standby_answers_409_with_the_holder_and_a_failure_503() {
        launcher.start();
        HttpAddress at = start(null);
        orders.stats.transition(SubscriptionStatus.STANDBY, "pid 4711");

        HttpResponse<String> standby = send(at, "POST", "/api/v1/subscriptions/orders/disable", null);

        assertThat(standby.statusCode()).isEqualTo(409);
        assertThat(json(standby).path("error").asText()).contains("pid 4711");
        orders.stats.transition(SubscriptionStatus.STREAMING, null);
        orders.record.failure = new ApplyException(ApplyException.Kind.CONNECTION, "the target is away");
        HttpResponse<String> failed = send(at, "POST", "/api/v1/subscriptions/orders/disable", null);
        assertThat(failed.statusCode()).isEqualTo(503);
        assertThat(json(failed).path("error").asText()).isEqualTo("the target is away");
        assertThat(send(at, "POST", "/api/v1/subscriptions/Gr%C3%B6%C3%9Fe%2F1%20%25/enable", null)
                        .statusCode())
                .isEqualTo(409);
    }

    @Test
    void a_port_that_is_taken_is_named() {
        HttpAddress taken = start(null);
        RestServer second = new RestServer(launcher, () -> "", null);
        servers.add(second);

        assertThatThrownBy(() -> second.bind(taken))
                .isInstanceOf(ApplyException.class)
                .hasMessageContaining("HTTP address " + taken + " cannot be bound");
    }

    @Test
    void a_host_that_nobody_knows_is_named() {
        RestServer server = new RestServer(launcher, () -> "", null);

        assertThatThrownBy(() -> server.bind(new HttpAddress("no-such-host.invalid", 0)))
                .isInstanceOf(ApplyException.class)
                .hasMessageContaining("no-such-host.invalid:0 cannot be bound: unknown host");
    }

    @Test
    void who_asks_before_it_serves_is_answered_when_it_does() throws Exception {
        RestServer server = new RestServer(launcher, () -> "", null);
        servers.add(server);
        HttpAddress bound = server.bind(ANY_PORT);

        CompletableFuture<HttpResponse<String>> early = client.sendAsync(
                HttpRequest.newBuilder(URI.create("http://" + bound + "/health/live"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        server.serve();

        assertThat(early.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    }
}
