/** The conflicts that applying a change may meet, under PostgreSQL's names. */
@NullMarked
package dev.pgapply.core.conflict;

import org.jspecify.annotations.NullMarked;
