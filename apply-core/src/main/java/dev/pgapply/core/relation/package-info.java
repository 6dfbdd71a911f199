/** Remote relations, the target's tables, and how the columns of one map to the other (PostgreSQL's relation.c). */
@NullMarked
package dev.pgapply.core.relation;

import org.jspecify.annotations.NullMarked;
