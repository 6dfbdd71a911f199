package dev.pgapply.it.support;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Speaks to an engine's REST interface. Thread-safe. */
public final class RestClient {

    /** An answer, whatever its status is. */
    public record Answer(int status, String body) {

        /** The body as JSON. */
        public JsonNode json() {
            try {
                return MAPPER.readTree(body);
            } catch (JsonProcessingException e) {
                throw new UncheckedIOException("no JSON: " + body, e);
            }
        }
    }

    private static final JsonMapper MAPPER = new JsonMapper();
    private static final String SUBSCRIPTIONS = "/api/v1/subscriptions";

    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
    private final URI base;

    public RestClient(int port) {
        this.base = URI.create("http://127.0.0.1:" + port);
    }

    public URI base() {
        return base;
    }

    public Answer get(String path) {
        return send(HttpRequest.newBuilder(base.resolve(path)).GET());
    }

    /** POST with a JSON body; an empty one is an empty object. */
    public Answer post(String path, String json) {
        return send(HttpRequest.newBuilder(base.resolve(path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(json.isEmpty() ? "{}" : json)));
    }

    /** GET below a subscription, such as {@code origin}; an empty path is the subscription itself. */
    public JsonNode subscription(String name, String path) {
        Answer answer = get(SUBSCRIPTIONS + "/" + encode(name) + (path.isEmpty() ? "" : "/" + path));
        if (answer.status() != 200) {
            throw new IllegalStateException("answer " + answer.status() + ": " + answer.body());
        }
        return answer.json();
    }

    /** POST below a subscription, such as {@code disable}. */
    public Answer command(String name, String verb) {
        return command(name, verb, "");
    }

    /** POST below a subscription with a JSON body, such as {@code resync}. */
    public Answer command(String name, String verb, String json) {
        return post(SUBSCRIPTIONS + "/" + encode(name) + "/" + verb, json);
    }

    private static String encode(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private Answer send(HttpRequest.Builder request) {
        try {
            HttpResponse<String> response =
                    http.send(request.timeout(Duration.ofSeconds(30)).build(), HttpResponse.BodyHandlers.ofString());
            return new Answer(response.statusCode(), response.body());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for " + base, e);
        }
    }
}
