/** What an operator may say of a subscription, validated. */
@NullMarked
package dev.pgapply.core.subscription;

import org.jspecify.annotations.NullMarked;
