package dev.pgapply.core.batch;

/**
 * Collects what one phase of a batch does to one relation, and says its net effect. Lives as long as a batch is being sealed, on the
 * thread that seals it.
 */
interface RelationCompaction {

    /**
     * Takes the relation's next change.
     *
     * @return false if no set can say what this change comes to: the batch is then applied exactly
     */
    boolean add(Change change);

    /** The net effect of all changes taken. */
    SetPlan.RelationChanges netEffect();
}
