/** Parallel apply workers: sessions that apply streamed transactions while these are in progress, and the wait cycles between them. */
@NullMarked
package dev.pgapply.worker.parallel;

import org.jspecify.annotations.NullMarked;
