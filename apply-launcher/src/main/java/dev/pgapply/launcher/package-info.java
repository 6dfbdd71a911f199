/** The process. */
@NullMarked
package dev.pgapply.launcher;

import org.jspecify.annotations.NullMarked;
