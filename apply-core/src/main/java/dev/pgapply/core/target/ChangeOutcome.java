package dev.pgapply.core.target;

/** What applying one change came to. Refusals are exceptions. */
public enum ChangeOutcome {
    APPLIED,
    /** The row to be updated was not there (conflict update_missing); nothing was done. */
    UPDATE_MISSING,
    /** The row to be deleted was not there (conflict delete_missing); nothing was done. */
    DELETE_MISSING
}
