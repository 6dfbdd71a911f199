package dev.pgapply.core.relation;

import dev.pgapply.core.Oid;

/**
 * A column of a target table.
 *
 * @param type the type's oid on the target
 * @param typeName the type as SQL, schema-qualified and quoted, without modifier (format_type(oid, -1))
 * @param typeModifier the column's atttypmod, -1 if none
 * @param byteEquality whether two values of this type are equal exactly if their sent bytes are: the white list int2, int4, int8,
 *     oid, bool, uuid, bytea, date, time, timestamp, timestamptz, enum, and text and varchar under a deterministic collation
 * @param enumType whether the type is an enum: its labels are its bytes, whatever oid the publisher gives it
 */
public record TargetColumn(
        String name,
        Oid type,
        String typeName,
        int typeModifier,
        boolean notNull,
        boolean hasDefault,
        boolean generated,
        IdentityKind identity,
        boolean byteEquality,
        boolean enumType) {

    /** GENERATED … AS IDENTITY (pg_attribute.attidentity). */
    public enum IdentityKind {
        NONE,
        BY_DEFAULT,
        ALWAYS
    }
}
