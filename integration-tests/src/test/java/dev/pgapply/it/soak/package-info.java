/** A long run under mixed load with restarts: what must stay flat, and what grows. Not part of verify. */
@NullMarked
package dev.pgapply.it.soak;

import org.jspecify.annotations.NullMarked;
