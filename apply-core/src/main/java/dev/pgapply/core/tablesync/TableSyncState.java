package dev.pgapply.core.tablesync;

/**
 * Where the copy of a table stands (pg_subscription_rel.h, SUBREL_STATE_*). All of them are stored.
 *
 * <pre>
 *   i ──► d ──► f ──► s ──► r
 *   │     │▲    │     │     │
 *   │     │└────┴─────┴─────┤   redone from a new snapshot: a failed or broken-off copy, resync
 *   │     └──────► s        │   first start: copied as of the point where streaming begins
 *   ├──────────────────────►│   taken over without a copy (copy_data: false)
 *   └◄──────────────────────┘   parked: what the target has is no copy of the table that is published now
 * </pre>
 */
public enum TableSyncState {
    /** To be copied; nothing in the target's table is of this subscription. */
    INIT('i'),
    /** The copy runs, or has failed and will be redone; whatever the target's table holds is this subscription's to empty. */
    DATASYNC('d'),
    /** The rows are copied, consistent at the table's sync LSN; the changes held back meanwhile are being replayed. */
    FINISHEDCOPY('f'),
    /** The copy is done and consistent at the table's sync LSN; it takes the transactions that commit at or after it. */
    SYNCDONE('s'),
    /** In step with the stream. */
    READY('r');

    private final char code;

    TableSyncState(char code) {
        this.code = code;
    }

    /** Whether a table may go from this state to another, or be recorded in the same one again. */
    public boolean mayBecome(TableSyncState next) {
        return switch (this) {
            case INIT -> next == INIT || next == DATASYNC || next == READY;
            case DATASYNC -> next == DATASYNC || next == FINISHEDCOPY || next == SYNCDONE || next == INIT;
            case FINISHEDCOPY -> next == FINISHEDCOPY || next == SYNCDONE || next == DATASYNC;
            case SYNCDONE -> next == SYNCDONE || next == READY || next == DATASYNC || next == INIT;
            case READY -> next == READY || next == DATASYNC || next == INIT;
        };
    }

    /** The letter in the catalog. */
    public char code() {
        return code;
    }

    /** @throws IllegalArgumentException if no state has that letter */
    public static TableSyncState of(char code) {
        for (TableSyncState state : values()) {
            if (state.code == code) {
                return state;
            }
        }
        throw new IllegalArgumentException("unknown table sync state '" + code + "'");
    }
}
