package dev.pgapply.launcher.rest;

import org.jspecify.annotations.Nullable;

/** An answer that is an error: its status and what the JSON body says. */
final class HttpFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final @Nullable String hint;

    HttpFailure(int status, String message, @Nullable String hint) {
        super(message);
        this.status = status;
        this.hint = hint;
    }

    int status() {
        return status;
    }

    @Nullable
    String hint() {
        return hint;
    }
}
