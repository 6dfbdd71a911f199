/** Benchmarks: pgapply beside PostgreSQL's own subscription and a bare reader, on the same backlog, in one run. */
@NullMarked
package dev.pgapply.it.bench;

import org.jspecify.annotations.NullMarked;
