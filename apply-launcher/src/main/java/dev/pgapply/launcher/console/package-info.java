/** What a person at a terminal, or whoever reads the log, sees of a running engine. All of it goes to stderr. */
@NullMarked
package dev.pgapply.launcher.console;

import org.jspecify.annotations.NullMarked;
