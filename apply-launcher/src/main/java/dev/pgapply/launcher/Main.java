package dev.pgapply.launcher;

/** The entry point of the process. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {}
}
