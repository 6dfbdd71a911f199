package dev.pgapply.worker.publisher;

import dev.pgapply.core.Oid;

/**
 * A column that the subscription's publications send.
 *
 * @param typeName the type for people, with its modifier (format_type)
 * @param key whether it is part of the replica identity
 * @param generated whether it is a stored generated column that the publication sends (PostgreSQL 18)
 * @param binary whether the type means the same bytes on every server: built in, with send and receive functions, and not one whose
 *     value is an oid (reg*)
 * @param enumType whether the type is an enum, whose bytes are its label
 */
public record PublishedColumn(
        String name,
        Oid type,
        int typeModifier,
        String typeName,
        boolean key,
        boolean generated,
        boolean binary,
        boolean enumType) {}
