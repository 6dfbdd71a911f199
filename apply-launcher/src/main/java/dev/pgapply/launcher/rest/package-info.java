/** The HTTP server: health, metrics and the subscriptions' state for people and programs. */
@NullMarked
package dev.pgapply.launcher.rest;

import org.jspecify.annotations.NullMarked;
