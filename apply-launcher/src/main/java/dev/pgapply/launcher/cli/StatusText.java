package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.pgapply.launcher.text.Amounts;
import java.time.Duration;

/** A subscription's status, as {@code /api/v1/subscriptions} gives it, for people. */
final class StatusText {

    private StatusText() {}

    /** All subscriptions, a blank line between them. */
    static String all(JsonNode subscriptions) {
        StringBuilder text = new StringBuilder();
        for (JsonNode subscription : subscriptions) {
            text.append(text.isEmpty() ? "" : "\n").append(one(subscription));
        }
        return text.toString();
    }

    static String one(JsonNode json) {
        StringBuilder text = new StringBuilder();
        text.append(json.path("name").asText())
                .append(": ")
                .append(json.path("status").asText())
                .append('\n');
        line(text, "", json.path("lag").path("explanation").asText());
        line(text, "from ", json.path("publisher").asText());
        line(text, "to   ", json.path("target").asText());
        line(
                text,
                "",
                "received " + lsn(json, "received_lsn") + ", applied " + lsn(json, "apply_lsn") + ", flushed "
                        + lsn(json, "flush_lsn") + lag(json.path("lag")));
        JsonNode error = json.path("last_error");
        if (error.isObject()) {
            error(text, error);
        }
        return text.toString();
    }

    private static void error(StringBuilder text, JsonNode error) {
        long count = error.path("count").asLong();
        line(
                text,
                "error: ",
                error.path("message").asText() + " ("
                        + (count == 1 ? "once" : Amounts.count(count) + " times") + ", last at "
                        + error.path("at").asText()
                        + ")");
        if (error.path("context").isTextual()) {
            line(text, "context: ", error.path("context").asText());
        }
        if (error.path("hint").isTextual()) {
            line(text, "hint: ", error.path("hint").asText());
        }
    }

    private static String lag(JsonNode lag) {
        String time = lag.path("seconds").isNumber()
                ? ", lag "
                        + Amounts.duration(
                                Duration.ofMillis(Math.round(lag.path("seconds").asDouble() * 1000)))
                : "";
        return time
                + (lag.path("bytes").isNumber()
                        ? " (" + Amounts.bytes(lag.path("bytes").asLong()) + ")"
                        : "");
    }

    private static String lsn(JsonNode json, String field) {
        return json.path(field).isTextual() ? json.path(field).asText() : "-";
    }

    private static void line(StringBuilder text, String label, String value) {
        text.append("  ").append(label).append(value).append('\n');
    }
}
