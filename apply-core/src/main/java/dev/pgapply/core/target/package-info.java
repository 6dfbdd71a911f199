/** The seam to a target database: it describes tables and opens sessions. It has no SQL; a dialect implements it in apply-worker. */
@NullMarked
package dev.pgapply.core.target;

import org.jspecify.annotations.NullMarked;
