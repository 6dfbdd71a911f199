package dev.pgapply.worker.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * What the statements need to know of one type of the target; of a domain, what they need to know of its base type.
 *
 * @param baseOid the type's oid, of a domain its base type's
 * @param castName the type as SQL, without modifier: what text is cast to
 * @param textIsInput whether a cast from text does what the type's input function does. False for regclass and for types that have
 *     a cast function of their own: their values go as single parameters
 * @param sentAsText whether the type's binary form is its text
 * @param equality the equality operator of the type's default operator class, as SQL: search_path is empty, so an extension's type
 *     (citext) would silently be compared by a built-in operator
 * @param driverName the type's name, as the driver looks it up
 * @param arrayName the array type's name, as the driver looks it up; null if an array of such values cannot be unnested to them
 */
record TypeFacts(
        int baseOid,
        String castName,
        boolean textIsInput,
        boolean sentAsText,
        String equality,
        String driverName,
        @Nullable String arrayName) {}
