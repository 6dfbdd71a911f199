/** Numbers and sentences for people. */
@NullMarked
package dev.pgapply.launcher.text;

import org.jspecify.annotations.NullMarked;
