/** Prepared transactions through an engine: prepared, finished, repeated, broken off at each step, refused. */
@NullMarked
package dev.pgapply.it.twophase;

import org.jspecify.annotations.NullMarked;
