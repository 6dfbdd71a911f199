/** What tests, demo and benchmarks stand on: servers, faults, the engine as a process, workloads and comparisons. */
@NullMarked
package dev.pgapply.it.support;

import org.jspecify.annotations.NullMarked;
