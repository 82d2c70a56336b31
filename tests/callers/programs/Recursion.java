// Recursion DEPTH CHANGES_EVERY_NS SECONDS: alpha and beta call the same recursive function at the
// same stack position, alpha three times as often.

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;

public class Recursion {
  static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  static long sink;
  static double turnsPerNs;

  static long cpuNow() {
    return threads.getCurrentThreadCpuTime();
  }

  static void spin(long turns) {
    long sum = sink;
    for (long i = 0; i < turns; i++) sum = sum * 6364136223846793005L + i;
    sink = sum;
  }

  static void leaf(long ns) {
    if (ns < 1000000) {
      spin((long) (ns * turnsPerNs));
      sink++;
      return;
    }
    for (long end = cpuNow() + ns; cpuNow() < end; ) spin((long) (20000 * turnsPerNs));
  }

  static void deep(int left, long ns) {
    if (left == 0) {
      leaf(ns);
    } else {
      deep(left - 1, ns);
    }
    sink++;
  }

  static void alpha(int calls, int depth, long ns) {
    for (int i = 0; i < calls; i++) deep(depth - 1, ns);
    sink++;
  }

  static void beta(int calls, int depth, long ns) {
    for (int i = 0; i < calls; i++) deep(depth - 1, ns);
    sink++;
  }

  // Repeats calls until the last compiler (C2) has compiled them.
  static void calibrate(int depth) {
    final int calls = 20000;
    for (int i = 0; i < calls / depth + 100; i++) {
      alpha(3, depth, 0);
      beta(1, depth, 0);
      spin(1000);
    }
    final long turns = 2000000;
    long start = cpuNow();
    spin(turns);
    turnsPerNs = turns / (double) (cpuNow() - start);
  }

  static void run(int depth, double changes, double seconds) {
    long end = cpuNow() + (long) (seconds * 1e9);
    int betweenLooks = changes < 100000 ? 64 : 1;
    int state = 1 << 30;
    for (;;) {
      for (int i = 0; i < betweenLooks; i++) {
        long ns = (long) (changes / 2 * (0.5 + (state & 0xffffffffL) / 4294967296.0));
        state = state * 1664525 + 1013904223;
        alpha(3, depth, ns);
        beta(1, depth, ns);
      }
      if (cpuNow() >= end) return;
    }
  }

  public static void main(String[] arguments) throws Exception {
    int depth = Integer.parseInt(arguments[0]);
    calibrate(depth);
    String fifo = System.getenv("CALLERS_WAIT");
    if (fifo != null) Files.readAllBytes(Path.of(fifo));
    run(depth, Double.parseDouble(arguments[1]), Double.parseDouble(arguments[2]));
  }
}
