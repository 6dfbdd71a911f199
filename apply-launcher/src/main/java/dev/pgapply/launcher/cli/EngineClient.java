package dev.pgapply.launcher.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Speaks to a running engine. One thread. */
final class EngineClient {

    private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);

    /** A command waits until the subscription has given everything back. */
    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(30);

    private final ObjectMapper mapper = new ObjectMapper();
    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(CONNECT_WITHIN).build();
    private final String url;
    private final @Nullable String token;

    EngineClient(String url, @Nullable String token) {
        this.url = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
        this.token = token;
    }

    JsonNode subscriptions() {
        return send("GET", "", null);
    }

    JsonNode command(String name, String verb) {
        return command(name, verb, null);
    }

    /** @param body what the command is about, or null */
    JsonNode command(String name, String verb, @Nullable JsonNode body) {
        String encoded = URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
        return send("POST", "/" + encoded + "/" + verb, body);
    }

    private JsonNode send(String method, String path, @Nullable JsonNode content) {
        HttpResponse<String> response;
        try {
            response = client.send(request(method, path, content), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new ApplyException(
                    Kind.CONNECTION,
                    "no engine answers at " + url,
                    "check that it runs, and name its address with --url",
                    null,
                    null,
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApplyException(Kind.CONNECTION, "interrupted while waiting for the engine at " + url, e);
        }
        JsonNode body = json(response);
        if (response.statusCode() != 200) {
            JsonNode hint = body.path("hint");
            throw new ApplyException(
                    Kind.PRECONDITION,
                    body.path("error").asText("the engine answered with status " + response.statusCode()),
                    response.statusCode() == 401
                            ? "give the token with --token or PGAPPLY_TOKEN"
                            : hint.isTextual() ? hint.asText() : null,
                    null,
                    null,
                    null);
        }
        return body;
    }

    private HttpRequest request(String method, String path, @Nullable JsonNode content) {
        try {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + "/api/v1/subscriptions" + path))
                    .timeout(ANSWER_WITHIN)
                    .method(
                            method,
                            content == null
                                    ? HttpRequest.BodyPublishers.noBody()
                                    : HttpRequest.BodyPublishers.ofString(content.toString()));
            if (content != null) {
                request.header("Content-Type", "application/json");
            }
            if (token != null && !token.isEmpty()) {
                request.header("Authorization", "Bearer " + token);
            }
            return request.build();
        } catch (IllegalArgumentException e) {
            throw ApplyException.withHint(
                    Kind.CONFIGURATION,
                    "--url or --token cannot be used: "
                            + (url.startsWith("http") ? "a character is wrong" : "\"" + url + "\" is no URL"),
                    "write http://127.0.0.1:8080");
        }
    }

    private JsonNode json(HttpResponse<String> response) {
        try {
            return mapper.readTree(response.body());
        } catch (JsonProcessingException e) {
            throw new ApplyException(
                    Kind.CONNECTION, "what answers at " + url + " is no engine: status " + response.statusCode(), e);
        }
    }
}
