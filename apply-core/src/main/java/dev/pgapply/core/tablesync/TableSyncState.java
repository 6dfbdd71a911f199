package dev.pgapply.core.tablesync;

/** Where the copy of a table stands (pg_subscription_rel.h, SUBREL_STATE_*). */
public enum TableSyncState {
    /** To be copied. Stored. */
    INIT('i'),
    /** The copy runs. Stored. */
    DATASYNC('d'),
    /** The copy is done and consistent at the table's sync LSN; it takes the transactions that commit at or after it. Stored. */
    SYNCDONE('s'),
    /** In step with the stream. Stored. */
    READY('r');

    private final char code;

    TableSyncState(char code) {
        this.code = code;
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
