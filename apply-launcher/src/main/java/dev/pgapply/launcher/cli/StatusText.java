package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.pgapply.launcher.text.Amounts;
import dev.pgapply.launcher.text.CopyProgress;
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
        copy(text, json.path("copy"));
        slotWait(text, json.path("slot_wait"));
        JsonNode error = json.path("last_error");
        if (error.isObject()) {
            error(text, error);
        }
        return text.toString();
    }

    private static void copy(StringBuilder text, JsonNode copy) {
        if (!copy.isObject()) {
            return;
        }
        double fraction = copy.path("fraction").asDouble();
        line(
                text,
                "",
                CopyProgress.bar(fraction) + " " + Math.round(fraction * 100) + " %, "
                        + copy.path("tables_copied").asLong() + " of "
                        + Amounts.counted(copy.path("tables").asLong(), "table", "tables") + ", " + pace(copy));
        for (JsonNode table : copy.path("under_way")) {
            line(
                    text,
                    "copying ",
                    table.path("schema").asText() + "." + table.path("table").asText() + ": " + pace(table));
        }
    }

    /** {@code 1,000 of about 2,000 rows, 10.0 kB of about 20.0 kB, 5.0 kB/s, about 2.0 s left}. */
    private static String pace(JsonNode json) {
        long rowsEstimated = json.path("rows_estimated").asLong(-1);
        long bytesEstimated = json.path("bytes_estimated").asLong(-1);
        String left = json.path("remaining_seconds").isNumber()
                ? "about "
                        + Amounts.duration(Duration.ofMillis(
                                Math.round(json.path("remaining_seconds").asDouble() * 1000)))
                        + " left"
                : "remaining time unknown";
        return Amounts.count(json.path("rows_copied").asLong())
                + (rowsEstimated < 0 ? "" : " of about " + Amounts.count(rowsEstimated)) + " rows, "
                + Amounts.bytes(json.path("bytes_copied").asLong())
                + (bytesEstimated < 0 ? "" : " of about " + Amounts.bytes(bytesEstimated)) + ", "
                + Amounts.bytes(json.path("bytes_per_second").asLong()) + "/s, " + left;
    }

    private static void slotWait(StringBuilder text, JsonNode wait) {
        String who = wait.path("table").isTextual() ? wait.path("table").asText() + " " : "";
        for (JsonNode one : wait.path("transactions")) {
            String subject = one.path("pid").isNumber()
                    ? "pid " + one.path("pid").asLong()
                    : "prepared transaction \"" + one.path("gid").asText() + "\"";
            String user = one.path("user").isTextual()
                    ? ", user \"" + one.path("user").asText() + "\", database \""
                            + one.path("database").asText() + "\""
                    : "";
            String age = one.path("age_seconds").isNumber()
                    ? ", open for "
                            + Amounts.duration(Duration.ofMillis(
                                    Math.round(one.path("age_seconds").asDouble() * 1000)))
                    : "";
            String query = one.path("query").isTextual()
                    ? ", query: " + one.path("query").asText()
                    : "";
            line(text, who + "waits for ", subject + user + age + query);
        }
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
