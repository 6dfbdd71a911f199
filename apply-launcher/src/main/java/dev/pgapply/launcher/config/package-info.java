/**
 * The configuration: a YAML file, values interpolated from the environment, overridden by {@code PGAPPLY_} variables, and read once
 * into validated records. Nothing is repaired: what is unknown or out of range stops the start.
 */
@NullMarked
package dev.pgapply.launcher.config;

import org.jspecify.annotations.NullMarked;
