package dev.pgapply.core.batch;

/** What a transaction does, in its order: a row's change or a TRUNCATE. */
public sealed interface Step permits Change, Truncation {}
