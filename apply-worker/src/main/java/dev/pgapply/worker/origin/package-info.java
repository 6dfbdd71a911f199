/** How far the target has come: the progress that commits with the rows, and PostgreSQL's replication origin beside it. */
@NullMarked
package dev.pgapply.worker.origin;

import org.jspecify.annotations.NullMarked;
