/** Tests of the receiver. */
@NullMarked
package dev.pgapply.worker.stream;

import org.jspecify.annotations.NullMarked;
