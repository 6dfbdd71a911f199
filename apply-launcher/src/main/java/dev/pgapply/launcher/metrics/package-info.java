/** What Prometheus sees of the subscriptions. */
@NullMarked
package dev.pgapply.launcher.metrics;

import org.jspecify.annotations.NullMarked;
