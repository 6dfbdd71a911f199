package dev.pgapply.launcher.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.batch.BatchLimits;
import dev.pgapply.core.subscription.BinaryMode;
import dev.pgapply.core.subscription.CreateTables;
import dev.pgapply.core.subscription.StreamingMode;
import dev.pgapply.core.subscription.SubscriptionOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigReaderTest {

    private static final String MINIMAL = """
            subscriptions:
              - name: orders
                publisher: { url: "postgresql://repl@db1/shop" }
                target: { url: "postgresql://app@db2/shop" }
                publications: [orders_pub]
            """;

    private final Map<String, String> environment = new HashMap<>();

    @TempDir
    private Path folder;

    private LauncherConfig read(String yaml) {
        return new ConfigReader(environment, "osuser").parse(yaml, folder);
    }

    private SubscriptionOptions readOne(String yaml) {
        return read(yaml).subscriptions().get(0);
    }

    /** The minimal file with one more line in its subscription, which is line 6. */
    private static String with(String line) {
        return MINIMAL + "    " + line + "\n";
    }

    private void refused(String yaml, String... parts) {
        assertThatThrownBy(() -> read(yaml)).isInstanceOfSatisfying(ApplyException.class, e -> {
            assertThat(e.kind()).isEqualTo(ApplyException.Kind.CONFIGURATION);
            assertThat(e.getMessage() + " | " + e.hint()).contains(parts).doesNotContain("hush");
            assertThat(e.getMessage()).doesNotContain("\n").doesNotEndWith(".");
        });
    }

    @Test
    void the_defaults_are_these() {
        LauncherConfig config = read(MINIMAL);
        SubscriptionOptions options = config.subscriptions().get(0);

        assertThat(config.httpAddress()).isEqualTo(new HttpAddress("127.0.0.1", 8080));
        assertThat(config.httpToken()).isNull();
        assertThat(config.stateDirectory()).isNull();
        assertThat(options.slotName()).isEqualTo("orders");
        assertThat(options.enabled()).isTrue();
        assertThat(options.createSlot()).isTrue();
        assertThat(options.copyData()).isTrue();
        assertThat(options.createTables()).isEqualTo(CreateTables.NONE);
        assertThat(options.origin()).isEqualTo(SubscriptionOptions.Origin.ANY);
        assertThat(options.synchronousCommit()).isEqualTo("off");
        assertThat(options.disableOnError()).isFalse();
        assertThat(options.maxSyncWorkers()).isEqualTo(2);
        assertThat(options.slotCreateTimeout()).isZero();
        assertThat(options.walReceiverStatusInterval()).isEqualTo(Duration.ofSeconds(10));
        assertThat(options.walReceiverTimeout()).isEqualTo(Duration.ofSeconds(60));
        assertThat(options.receiveQueueBytes()).isEqualTo(16 << 20);
        assertThat(options.batch()).isEqualTo(new BatchLimits(20_000, 16 << 20));
        assertThat(options.streaming()).isEqualTo(StreamingMode.PARALLEL);
        assertThat(options.maxParallelApplyWorkers()).isEqualTo(2);
        assertThat(options.streamSendTimeout()).isEqualTo(Duration.ofSeconds(10));
        assertThat(options.twoPhase()).isFalse();
        assertThat(options.spoolMaxBytes()).isZero();
    }

    @Test
    void the_keys_are_these_and_each_is_taken() {
        LauncherConfig config = read("""
                http: { address: "0.0.0.0:0", token: t }
                state_directory: /tmp/state
                subscriptions:
                  - name: My Orders
                    publisher: { url: "postgresql://repl@db1/shop", password: p1 }
                    target: { url: "postgresql://app@db2/shop", password: p2 }
                    publications: [a, "b,c"]
                    slot_name: orders
                    enabled: false
                    create_slot: false
                    copy_data: false
                    create_tables: missing
                    origin: none
                    synchronous_commit: remote_apply
                    disable_on_error: true
                    max_sync_workers_per_subscription: 4
                    max_parallel_apply_workers_per_subscription: 0
                    stream_send_timeout: 250ms
                    wal_receiver_status_interval: 500ms
                    wal_receiver_timeout: 1min
                    receive_queue: 64kB
                    batch: { max_rows: 1, max_bytes: 1MB }
                    streaming: on
                    two_phase: true
                    binary: true
                    spool: { max_bytes: 2GB }
                """);
        SubscriptionOptions options = config.subscriptions().get(0);

        assertThat(config.httpAddress()).isEqualTo(new HttpAddress("0.0.0.0", 0));
        assertThat(config.httpToken()).isEqualTo("t");
        assertThat(config.stateDirectory()).isEqualTo(Path.of("/tmp/state"));
        assertThat(options.name()).isEqualTo("My Orders");
        assertThat(options.publisher().properties()).containsEntry("password", "p1");
        assertThat(options.target().properties()).containsEntry("password", "p2");
        assertThat(options.publications()).containsExactly("a", "b,c");
        assertThat(options.slotName()).isEqualTo("orders");
        assertThat(options.enabled() || options.createSlot() || options.copyData())
                .isFalse();
        assertThat(options.createTables()).isEqualTo(CreateTables.MISSING);
        assertThat(options.origin()).isEqualTo(SubscriptionOptions.Origin.NONE);
        assertThat(options.synchronousCommit()).isEqualTo("remote_apply");
        assertThat(options.disableOnError()).isTrue();
        assertThat(options.maxSyncWorkers()).isEqualTo(4);
        assertThat(options.maxParallelApplyWorkers()).isZero();
        assertThat(options.streamSendTimeout()).isEqualTo(Duration.ofMillis(250));
        assertThat(options.walReceiverStatusInterval()).isEqualTo(Duration.ofMillis(500));
        assertThat(options.walReceiverTimeout()).isEqualTo(Duration.ofMinutes(1));
        assertThat(options.receiveQueueBytes()).isEqualTo(64 << 10);
        assertThat(options.batch()).isEqualTo(new BatchLimits(1, 1 << 20));
        assertThat(options.streaming()).isEqualTo(StreamingMode.ON);
        assertThat(options.twoPhase()).isTrue();
        assertThat(options.binary()).isEqualTo(BinaryMode.TRUE);
        assertThat(options.spoolMaxBytes()).isEqualTo(2L << 30);
        assertThat(ConfigReader.KEYS).hasSize(3);
        assertThat(ConfigReader.HTTP_KEYS).hasSize(2);
        assertThat(SubscriptionSection.KEYS).hasSize(24);
        assertThat(SubscriptionSection.CONNECTION_KEYS).hasSize(3);
        assertThat(SubscriptionSection.BATCH_KEYS).hasSize(2);
        assertThat(SubscriptionSection.SPOOL_KEYS).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"failover: false", "conflict_resolution: {}"})
    void a_key_of_a_later_release_is_unknown(String line) {
        refused(with(line), "unknown key \"subscriptions[0]." + line.substring(0, line.indexOf(':')), "line 6");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "slotname: x | unknown key \"subscriptions[0].slotname\" (line 6) | did you mean \"slot_name\"?",
                "pasword: hush | unknown key \"subscriptions[0].pasword\" (line 6) | known keys are batch, binary, copy_data",
                "batch: { rows: 1 } | unknown key \"subscriptions[0].batch.rows\" | max_rows",
                "batch: 5 | \"subscriptions[0].batch\" is no map of keys (line 6) | max_bytes, max_rows",
                "batch: { max_rows: 0 } | \"subscriptions[0].batch.max_rows\" is \"0\" (line 6) | from 1 to 10000000",
                "batch: { max_rows: 1e3 } | \"subscriptions[0].batch.max_rows\" is \"1e3\" | a whole number",
                "batch: { max_rows: 99999999999 } | is \"99999999999\" | from 1 to 10000000",
                "batch: { max_bytes: 16Mb } | \"subscriptions[0].batch.max_bytes\" is \"16Mb\" | from 1kB to 1GB",
                "receive_queue: 2GB | \"subscriptions[0].receive_queue\" is \"2GB\" | from 1kB to 1GB",
                "receive_queue: -1 | \"subscriptions[0].receive_queue\" is \"-1\" | from 1kB to 1GB",
                "wal_receiver_timeout: 60 | \"subscriptions[0].wal_receiver_timeout\" is \"60\" | a time from 1s to 24h, or 0 for never",
                "wal_receiver_timeout: 10ms | is \"10ms\" | from 1s to 24h",
                "wal_receiver_status_interval: 0 | is \"0\" | a time from 100ms to 1h",
                "max_sync_workers_per_subscription: 65 | is \"65\" | from 1 to 64",
                "binary: text | \"subscriptions[0].binary\" is \"text\" | one of auto, true, false",
                "create_tables: all | \"subscriptions[0].create_tables\" is \"all\" | one of none, missing",
                "origin: both | \"subscriptions[0].origin\" is \"both\" | one of any, none",
                "synchronous_commit: maybe | is \"maybe\" | one of off, local, remote_write, remote_apply, on",
                "enabled: maybe | \"subscriptions[0].enabled\" is \"maybe\" | true or false",
                "create_slot: false | \"subscriptions[0].copy_data\" is true although \"subscriptions[0].create_slot\" is false | copy_data: false",
                "slot_name: Orders | \"subscriptions[0].slot_name\" is \"Orders\" | a to z, 0 to 9 and underscore",
                "slot_name: | \"subscriptions[0].slot_name\" has no value (line 6) | give it one value",
                "slot_name: [a, b] | \"subscriptions[0].slot_name\" has more than one value | give it one value",
                "name: again | key \"name\" is given twice (line 6) | leave one",
                "slot_name: *alias | has an alias (line 6) | quote",
                "slot_name: \"${NOWHERE}\" | needs the environment variable NOWHERE, which is not defined (line 6) | ${NOWHERE:-default}",
                "slot_name: \"${}\" | \"subscriptions[0].slot_name\" has a ${ that begins no variable (line 6) | ${NAME}"
            })
    void what_is_wrong_is_named_with_key_value_place_and_range(String line, String message, String hint) {
        refused(with(line), message, hint);
    }

    @Test
    void broken_yaml_names_the_line_and_shows_nothing_of_it() {
        refused("subscriptions:\n  - name: a\n    password: hush: hush\n", "no valid YAML at line 3");
        refused("http: {token: \"hush\n", "no valid YAML at line ");
        refused("", "the configuration is empty");
        refused("- a", "the configuration is no map of keys");
        refused(MINIMAL + "---\nx: 1\n", "second document");
        refused("subscriptions: { a: b }", "\"subscriptions\" is no list (line 1)");
        refused("state_directory: /tmp", "\"subscriptions\" is missing");
    }

    @Test
    void a_missing_key_is_named() {
        refused(MINIMAL.replace("- name: orders", "- slot_name: x"), "\"subscriptions[0].name\" is missing (line 2)");
        refused(MINIMAL.replace("publications: [orders_pub]", ""), "\"subscriptions[0].publications\" is missing");
        refused(MINIMAL.replace("[orders_pub]", "[]"), "\"subscriptions[0].publications\" is missing");
        refused(MINIMAL.replace("[orders_pub]", "[a, b, a]"), "names \"a\" twice");
        refused(MINIMAL.replace("[orders_pub]", "[{a: b}]"), "\"subscriptions[0].publications[0]\" is no single value");
        refused(MINIMAL.replace("target: { url: \"postgresql://app@db2/shop\" }", ""), "[0].target.url\" is missing");
        refused(
                MINIMAL.replace("{ url: \"postgresql://app@db2/shop\" }", "{ password: hush }"),
                "[0].target.url\" is missing");
    }

    @Test
    void a_wrong_url_is_named_without_its_text() {
        refused(
                MINIMAL.replace("postgresql://repl@db1/shop", "postgresql://repl:hush@db1/shop?keepalives=1"),
                "\"subscriptions[0].publisher.url\" (line 3): the URL has the unknown parameter \"keepalives\"",
                "known parameters are");
        refused(MINIMAL.replace("postgresql://app@db2/shop", "mariadb://db2/shop"), "not supported yet");
    }

    @Test
    void a_name_is_1_to_63_bytes_and_may_be_anything_else() {
        String bytes63 = "é".repeat(31) + "x";

        assertThat(readOne(MINIMAL.replace("name: orders", "name: " + bytes63 + "\n    slot_name: s"))
                        .name())
                .isEqualTo(bytes63);
        refused(MINIMAL.replace("name: orders", "name: " + bytes63 + "y"), "1 to 63 bytes long");
        refused(MINIMAL.replace("name: orders", "name: \"\""), "\"subscriptions[0].name\" is missing");
        refused(MINIMAL.replace("name: orders", "name: \"a\\nb\""), "without control characters");
        refused(
                MINIMAL.replace("name: orders", "name: My Orders"),
                "\"subscriptions[0].slot_name\" is missing (line 2): the name \"My Orders\" is no valid slot name");
    }

    @Test
    void names_are_unique_and_slots_are_unique_on_a_publisher() {
        String second = MINIMAL.substring(MINIMAL.indexOf('\n') + 1);

        refused(MINIMAL + second, "\"subscriptions[1].name\" is \"orders\" (line 6), as is \"subscriptions[0].name\"");
        refused(
                MINIMAL
                        + second.replace("name: orders", "name: two\n    slot_name: orders")
                                .replace("db1/shop", "db1:5432/other"),
                "\"subscriptions[1].slot_name\" is \"orders\" (line 7)",
                "on the same publisher");
        assertThat(read(MINIMAL
                                + second.replace("name: orders", "name: two\n    slot_name: orders")
                                        .replace("db1", "db9"))
                        .subscriptions())
                .hasSize(2);
    }

    @Test
    void an_address_other_than_loopback_needs_a_token() {
        refused("http: { address: \"0.0.0.0:80\" }\n" + MINIMAL, "other than loopback needs a token", "line 1");
        refused("http: { address: \"[::]:80\", token: \"\" }\n" + MINIMAL, "other than loopback needs a token");
        refused("http: { address: \"myhost:80\" }\n" + MINIMAL, "other than loopback needs a token");
        assertThat(read("http: { address: \"0.0.0.0:80\", token: x }\n" + MINIMAL)
                        .httpToken())
                .isEqualTo("x");
        assertThat(read("http: { address: \"[::1]:80\" }\n" + MINIMAL).httpAddress())
                .isEqualTo(new HttpAddress("::1", 80));
        assertThat(read("http: { address: \"localhost:0\" }\n" + MINIMAL).httpAddress())
                .isEqualTo(new HttpAddress("localhost", 0));
    }

    @ParameterizedTest
    @CsvSource({"8080", "localhost", "':8080'", "'localhost:65536'", "'::1:80'", "'http://localhost:80'"})
    void an_address_is_a_host_and_a_port(String address) {
        refused("http: { address: \"" + address + "\" }\n" + MINIMAL, "\"http.address\" is \"" + address + "\"");
    }

    @Test
    void values_are_interpolated_and_what_a_variable_holds_is_taken_as_it_is() {
        environment.put("SECRET", "a: b # ${OTHER} \"");
        environment.put("EMPTY", "");
        String yaml = MINIMAL.replace(
                        "{ url: \"postgresql://app@db2/shop\" }",
                        "{ url: \"postgresql://${U:-me}@${H:-}db2/shop${EMPTY}\", password: \"${SECRET}\" }")
                .replace("[orders_pub]", "[\"${EMPTY:-p}\", \"x${EMPTY}y\"]");

        SubscriptionOptions options = readOne(yaml);

        assertThat(options.target().properties()).isEqualTo(Map.of("user", "me", "password", "a: b # ${OTHER} \""));
        assertThat(options.target().display()).isEqualTo("postgresql://me@db2:5432/shop");
        assertThat(options.publications()).containsExactly("p", "xy");
    }

    @Test
    void the_environment_overrides_and_adds() {
        environment.putAll(Map.of(
                "PGAPPLY_HTTP__ADDRESS", "127.0.0.1:0",
                "PGAPPLY_HTTP__TOKEN", "tok",
                "PGAPPLY_STATE_DIRECTORY", "/tmp/x",
                "PGAPPLY_SUBSCRIPTIONS__0__PUBLISHER__PASSWORD", "p ${x}",
                "PGAPPLY_SUBSCRIPTIONS__0__BATCH__MAX_ROWS", "7",
                "PGAPPLY_SUBSCRIPTIONS__0__PUBLICATIONS", "a,b",
                "PGAPPLY_SUBSCRIPTIONS__1__NAME", "two",
                "PGAPPLY_SUBSCRIPTIONS__1__PUBLISHER__URL", "postgresql://db3/x",
                "PGAPPLY_SUBSCRIPTIONS__1__TARGET__URL", "postgresql://db4/x",
                "PGAPPLY_SUBSCRIPTIONS__1__PUBLICATIONS__0", "c"));

        LauncherConfig config = read(MINIMAL.replace(
                "{ url: \"postgresql://repl@db1/shop\" }",
                "{ url: \"postgresql://repl@db1/shop\", password: \"${UNDEFINED}\" }"));

        assertThat(config.httpAddress().port()).isZero();
        assertThat(config.httpToken()).isEqualTo("tok");
        assertThat(config.stateDirectory()).isEqualTo(Path.of("/tmp/x"));
        assertThat(config.subscriptions()).extracting(SubscriptionOptions::name).containsExactly("orders", "two");
        assertThat(config.subscriptions().get(0).publisher().properties()).containsEntry("password", "p ${x}");
        assertThat(config.subscriptions().get(0).batch().maxRows()).isEqualTo(7);
        assertThat(config.subscriptions().get(0).publications()).containsExactly("a", "b");
        assertThat(config.subscriptions().get(1).publications()).containsExactly("c");
    }

    @Test
    void eleven_subscriptions_of_the_environment_are_in_order() {
        for (int i = 0; i <= 10; i++) {
            String prefix = "PGAPPLY_SUBSCRIPTIONS__" + i + "__";
            environment.put(prefix + "NAME", "s" + i);
            environment.put(prefix + "PUBLISHER__URL", "postgresql://db/x");
            environment.put(prefix + "TARGET__URL", "postgresql://db2/x");
            environment.put(prefix + "PUBLICATIONS", "p");
        }

        assertThat(read("state_directory: /tmp/x\n").subscriptions())
                .extracting(SubscriptionOptions::name)
                .containsExactly("s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10");
    }

    @Test
    void other_variables_are_no_configuration() {
        environment.putAll(Map.of("PGAPPLY_URL", "x", "PGAPPLY_TOKEN", "y", "PGAPPLY_HTTP_TOKEN", "z"));

        assertThat(read(MINIMAL).httpToken()).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "PGAPPLY_HTTP__PORT, unknown key \"http.port\" (environment variable PGAPPLY_HTTP__PORT)",
        "PGAPPLY_HTTP__ADDRESS__X, \"http.address\" has more than one value",
        "PGAPPLY_SUBSCRIPTIONS__0__SLOTNAME, unknown key \"subscriptions[0].slotname\"",
        "PGAPPLY_SUBSCRIPTIONS__0__STREAMING, \"subscriptions[0].streaming\" is \"x\"",
        "PGAPPLY_SUBSCRIPTIONS__0__ENABLED, \"subscriptions[0].enabled\" is \"x\" (environment variable PGAPPLY_SUBSCRIPTIONS__0__ENABLED)",
        "PGAPPLY_SUBSCRIPTIONS__2__NAME, has the index 2",
        "PGAPPLY_SUBSCRIPTIONS__ORDERS__NAME, where a list's index belongs",
        "PGAPPLY_MANAGED, environment variable PGAPPLY_MANAGED is not supported yet"
    })
    void a_wrong_variable_below_the_prefixes_is_refused(String name, String message) {
        environment.put(name, "x");

        refused(MINIMAL, message);
    }

    @Test
    void the_password_comes_from_the_key_or_the_file_or_the_url() throws IOException {
        Files.writeString(folder.resolve("pw"), "from file :/@%'\\ \n");
        String withUrlPassword = MINIMAL.replace("repl@db1", "repl:fromurl@db1");

        assertThat(readOne(withUrlPassword).publisher().properties()).containsEntry("password", "fromurl");
        assertThat(readOne(publisher("password_file: pw")).publisher().properties())
                .containsEntry("password", "from file :/@%'\\ ");
        assertThat(readOne(publisher("password: \":/@%'\\\\ \"")).publisher().properties())
                .containsEntry("password", ":/@%'\\ ");
        refused(
                publisher("password: hush, password_file: pw"),
                "both \"subscriptions[0].publisher.password\" and \"subscriptions[0].publisher.password_file\"");
        refused(
                publisher("password_file: nowhere"),
                "\"subscriptions[0].publisher.password_file\" is \"nowhere\" (line 3): the file cannot be read");
    }

    private static String publisher(String keys) {
        return MINIMAL.replace(
                "{ url: \"postgresql://repl@db1/shop\" }", "{ url: \"postgresql://repl@db1/shop\", " + keys + " }");
    }

    @Test
    void a_file_that_cannot_be_read_is_named() throws IOException {
        ConfigReader reader = new ConfigReader(environment, "osuser");
        Path latin1 = Files.write(folder.resolve("latin1.yml"), new byte[] {'a', ':', ' ', (byte) 0xE9});

        assertThatThrownBy(() -> reader.read(folder.resolve("none.yml"))).hasMessageContaining("does not exist");
        assertThatThrownBy(() -> reader.read(latin1)).hasMessageContaining("is not UTF-8");
        assertThatThrownBy(() -> reader.read(folder)).hasMessageContaining("cannot be read");
    }

    @Test
    void a_configurations_text_holds_no_secret() {
        environment.put("PGAPPLY_HTTP__TOKEN", "hush");

        LauncherConfig config = read(publisher("password: hush"));

        assertThat(config.toString() + config.subscriptions()).doesNotContain("hush");
    }
}
