package dev.pgapply.worker.catalog;

import dev.pgapply.core.ApplyException;
import dev.pgapply.core.ApplyException.Kind;
import java.util.Locale;

/**
 * How far a subscription is with two_phase (pg_subscription.subtwophasestate). Stored in {@code pgapply.subscription}, by the same
 * letters; decided at each start, before the stream is asked for.
 *
 * <pre>
 * disabled ⇄ pending → enabled       (disabled → enabled where all tables are ready)
 * </pre>
 *
 * <p>While it is pending, the slot sends a prepared transaction when it commits, as an ordinary one. Enabled is recorded before the
 * stream is asked for with two_phase, which is what turns the slot over for good (logical.c, CreateDecodingContext): the slot never
 * does what the record does not know. There is no way back, since a transaction that was prepared before would be sent without its
 * changes or with them twice.
 */
public enum TwoPhaseState {
    DISABLED('d'),
    /** Asked for, but a table is not ready yet (worker.c, "Two-phase transactions"): its changes would be judged by a PREPARE. */
    PENDING('p'),
    /** The stream is asked for with two_phase. */
    ENABLED('e');

    private final char code;

    TwoPhaseState(char code) {
        this.code = code;
    }

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** As the catalog has it. */
    public char code() {
        return code;
    }

    static TwoPhaseState of(String code) {
        for (TwoPhaseState state : values()) {
            if (code.equals(String.valueOf(state.code))) {
                return state;
            }
        }
        throw new ApplyException(Kind.STATE_MISMATCH, "two_phase_state \"" + code + "\" is not known");
    }

    /**
     * The state that a start goes on in. A slot that sends prepared transactions where they are not wanted is refused before.
     *
     * @param wanted the option two_phase
     * @param slotTwoPhase whether the slot sends prepared transactions: then they have to be taken so
     * @param allReady whether every table is ready
     */
    public TwoPhaseState atStart(boolean wanted, boolean slotTwoPhase, boolean allReady) {
        if (!wanted) {
            return DISABLED;
        }
        return this == ENABLED || slotTwoPhase || allReady ? ENABLED : PENDING;
    }
}
