/** The receiver: one walsender connection, one thread, one queue bounded in bytes, and the feedback that goes back. */
@NullMarked
package dev.pgapply.worker.stream;

import org.jspecify.annotations.NullMarked;
