package dev.pgapply.core.pgoutput;

/**
 * The row before the change.
 *
 * @param full true: all columns were sent ('O', REPLICA IDENTITY FULL); false: the key's only ('K'), and the other columns' NULL
 *     means "not sent"
 */
public record OldTuple(boolean full, Tuple tuple) {}
