package dev.pgapply.launcher.supervise;

/** A command that a subscription refuses in its present state; changes nothing. */
public final class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String hint;

    Refusal(String message, String hint) {
        super(message);
        this.hint = hint;
    }

    /** What a person can do about it. */
    public String hint() {
        return hint;
    }
}
