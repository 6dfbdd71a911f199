package dev.pgapply.launcher.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

class LoggingTest {

    private static final Logger log = LoggerFactory.getLogger(LoggingTest.class);

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final Terminal terminal = new Terminal(new PrintStream(bytes, true, StandardCharsets.UTF_8), false, 80);

    private String output() {
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @AfterEach
    void quiet_again() {
        MDC.clear();
        Logging.configure("error", Logging.Format.TEXT, terminal);
    }

    @Test
    void text_has_time_level_thread_and_message_and_no_trace() {
        Logging.configure("info", Logging.Format.TEXT, terminal);

        log.warn("it {}", "happened", new IllegalStateException("x"));

        assertThat(output()).matches("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z WARN  \\[.+] it happened\\n");
    }

    @Test
    void a_trace_is_shown_with_level_debug() {
        Logging.configure("debug", Logging.Format.TEXT, terminal);

        log.warn("it happened", new IllegalStateException("x"));

        assertThat(output()).contains("java.lang.IllegalStateException: x").contains("at dev.pgapply");
    }

    @Test
    void json_is_an_object_a_line_with_the_keys_that_are_set() throws IOException {
        Logging.configure("info", Logging.Format.JSON, terminal);
        MDC.put("subscription", "or\"ders");
        MDC.put("other", "x");

        log.info("two\nlines");

        assertThat(output().lines()).hasSize(1);
        JsonNode json = new ObjectMapper().readTree(output());
        assertThat(json.path("message").asText()).isEqualTo("two\nlines");
        assertThat(json.path("level").asText()).isEqualTo("INFO");
        assertThat(json.path("subscription").asText()).isEqualTo("or\"ders");
        assertThat(json.has("other")).isFalse();
        assertThat(json.has("xid")).isFalse();
    }

    @Test
    void json_knows_the_subscription_by_its_threads_name() throws IOException {
        Logging.configure("info", Logging.Format.JSON, terminal);
        Thread thread = Thread.currentThread();
        String name = thread.getName();
        try {
            for (String ofSubscription : List.of("receiver/a/b", "tablesync/a/b/public.t")) {
                bytes.reset();
                thread.setName(ofSubscription);
                log.info("x");
                assertThat(new ObjectMapper()
                                .readTree(output())
                                .path("subscription")
                                .asText())
                        .isEqualTo("a/b");
            }
        } finally {
            thread.setName(name);
        }
    }

    @Test
    void libraries_are_quiet() {
        Logging.configure("debug", Logging.Format.TEXT, terminal);

        LoggerFactory.getLogger("org.eclipse.jetty.server.Server").info("jetty");
        LoggerFactory.getLogger("io.micrometer.core.instrument.MeterRegistry").info("micrometer");
        LoggerFactory.getLogger("io.javalin.Javalin").error("javalin");

        assertThat(output()).isEmpty();
    }
}
