package dev.pgapply.worker.catalog;

import java.util.Locale;

/**
 * How far the first start of a subscription has come. Stored in {@code pgapply.subscription}.
 *
 * <pre>
 * none → creating → copying → ready
 * none → copying, none → ready      (create_slot: false: the slot is there already)
 * creating → none                   (the intent is withdrawn: a slot of that name is somebody else's)
 * creating → ready                  (nothing to copy)
 * copying → creating                (the slot is lost: begin again)
 * </pre>
 */
public enum SlotState {
    /** Nothing was done on the publisher. */
    NONE,
    /** The slot is about to be created, or was, and the engine ended before it could say so: such a slot is the engine's to drop. */
    CREATING,
    /** The slot exists and the consistent point is known; tables are copied. */
    COPYING,
    /** The slot exists and nothing more is copied from its snapshot: the stream may begin. */
    READY;

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    static SlotState of(String label) {
        return valueOf(label.toUpperCase(Locale.ROOT));
    }

    boolean mayBecome(SlotState next) {
        return switch (this) {
            case NONE -> true;
            case CREATING -> true;
            case COPYING -> next == CREATING || next == COPYING || next == READY;
            case READY -> next == READY;
        };
    }
}
