/** The command line: what was typed becomes values, and what happened becomes output and an exit code. */
@NullMarked
package dev.pgapply.launcher.cli;

import org.jspecify.annotations.NullMarked;
