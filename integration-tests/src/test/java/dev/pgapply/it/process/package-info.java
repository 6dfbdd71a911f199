/** The engine as a process: its commands, its configuration, its life and its end. */
@NullMarked
package dev.pgapply.it.process;

import org.jspecify.annotations.NullMarked;
