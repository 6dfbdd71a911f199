/** The initial copy of the published tables, COPY to COPY. */
@NullMarked
package dev.pgapply.worker.tablesync;

import org.jspecify.annotations.NullMarked;
