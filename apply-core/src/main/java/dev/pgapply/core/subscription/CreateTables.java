package dev.pgapply.core.subscription;

/** Which of the published tables a subscription creates on the target. */
public enum CreateTables {
    /** They must be there, as for a subscription of PostgreSQL's own. */
    NONE,
    /** Those that are absent; what exists is left as it is. */
    MISSING
}
