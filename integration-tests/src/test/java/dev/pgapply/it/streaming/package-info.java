/** Streamed transactions through an engine: spooled, cut, replayed, refused. */
@NullMarked
package dev.pgapply.it.streaming;

import org.jspecify.annotations.NullMarked;
