/**
 * The launcher: one supervising thread for each subscription, which lives through the lives of its worker, waits between them, and
 * keeps it disabled where an operator or an error said so.
 */
@NullMarked
package dev.pgapply.launcher.supervise;

import org.jspecify.annotations.NullMarked;
