/** The apply session: one thread with one target connection that executes sealed batches, and the context of its errors. */
@NullMarked
package dev.pgapply.worker.apply;

import org.jspecify.annotations.NullMarked;
