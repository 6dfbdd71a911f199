package dev.pgapply.launcher.supervise;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What other threads ask of a supervising thread, and how they reach it: a request ends its wait, and where it has to, its worker's life.
 * Thread-safe; only the supervising thread takes requests and begins lives.
 */
final class Requests {

    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(15);

    /**
     * @param enable else disable
     * @param recorded whether the target knows of it already
     * @param done completed by the supervising thread
     */
    record Request(boolean enable, boolean recorded, CompletableFuture<Void> done) {}

    private final String subscription;
    private final Pause pause;
    private final Queue<Request> waiting = new ArrayDeque<>();
    private @Nullable Worker living;
    private boolean stopping;

    Requests(String subscription, Pause pause) {
        this.subscription = subscription;
        this.pause = pause;
    }

    /** Hands a request over and waits for its answer. */
    void ask(boolean enable, boolean recorded) {
        Request request = new Request(enable, recorded, new CompletableFuture<>());
        synchronized (this) {
            if (stopping) {
                throw new Refusal("the engine is stopping", "try again when it has restarted");
            }
            waiting.add(request);
            if (living != null && !enable) {
                living.stop();
            }
        }
        pause.wake();
        await(request);
    }

    private void await(Request request) {
        try {
            request.done().get(ANSWER_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ApplyException failure) {
                throw failure;
            }
            throw new ApplyException(Kind.INTERNAL, "the request failed", e.getCause());
        } catch (TimeoutException e) {
            throw new ApplyException(
                    Kind.TRANSIENT,
                    "subscription \"" + subscription + "\" has not answered within " + ANSWER_WITHIN.toSeconds()
                            + " s; the request stands",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApplyException(Kind.TRANSIENT, "interrupted while waiting for the subscription", e);
        }
    }

    /** Asks for the end of it all; returns at once. */
    void stop() {
        synchronized (this) {
            stopping = true;
            if (living != null) {
                living.stop();
            }
        }
        pause.wake();
    }

    synchronized boolean isStopping() {
        return stopping || Thread.currentThread().isInterrupted();
    }

    /** Whether the supervising thread has something better to do than to wait. */
    synchronized boolean isAsked() {
        return stopping || !waiting.isEmpty();
    }

    synchronized @Nullable Request next() {
        return waiting.poll();
    }

    /** Makes a worker that requests can reach; null if there are some already. */
    synchronized @Nullable Worker beginLife(Worker.Factory workers) {
        if (isAsked()) {
            return null;
        }
        living = workers.create();
        return living;
    }

    /** The worker that lives now, or null. Any thread. */
    synchronized @Nullable Worker living() {
        return living;
    }

    synchronized void endLife() {
        living = null;
    }

    /** Nobody waits for a supervising thread that has ended. */
    void refuseAll() {
        for (Request request = next(); request != null; request = next()) {
            request.done().completeExceptionally(new ApplyException(Kind.TRANSIENT, "the engine is stopping"));
        }
    }
}
