/** The demo that {@code mvn -q -Pdemo} runs. */
@NullMarked
package dev.pgapply.it.demo;

import org.jspecify.annotations.NullMarked;
