import java.util.*;
import java.util.zip.Deflater;

/**
 * Java code of the kinds that a profiler meets: compiled loops with inlined calls, recursion, deep
 * stacks, strings, collections, exceptions, garbage, and a native method. Arguments: run time
 * in milliseconds, and number of threads.
 */
public class J {
  static volatile long sink;

  static int mix(int x) {
    return (x ^ (x >>> 7)) * 31;
  }

  static int step(int x) {
    return mix(x) + mix(x + 1);
  }

  static long compiledLoop(int n) {
    long sum = 0;
    for (int i = 0; i < n; i++) sum += step(i);
    return sum;
  }

  static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
  }

  static int deep(int n) {
    return n == 0 ? fib(18) : deep(n - 1) + 1;
  }

  static int strings(int n) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < n; i++) text.append(i).append(',');
    return text.toString().hashCode();
  }

  static int collections(int n) {
    Map<Integer, List<Integer>> lists = new HashMap<>();
    for (int i = 0; i < n; i++) lists.computeIfAbsent(i % 97, k -> new ArrayList<>()).add(i);
    int sum = 0;
    for (List<Integer> list : lists.values()) {
      Collections.sort(list, Comparator.reverseOrder());
      sum += list.get(0);
    }
    return sum;
  }

  static int thrower(int n) {
    if (n % 3 == 0) throw new IllegalStateException("no");
    return n;
  }

  static int exceptions(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
      try {
        sum += thrower(i);
      } catch (IllegalStateException e) {
        sum++;
      }
    }
    return sum;
  }

  static Object[] allocate(int n) {
    Object[] kept = new Object[64];
    for (int i = 0; i < n; i++) kept[i & 63] = new byte[128 + (i & 255)];
    return kept;
  }

  static int nativeCall(byte[] bytes) {
    Deflater deflater = new Deflater(6);
    deflater.setInput(bytes);
    deflater.finish();
    int count = deflater.deflate(new byte[8192]);
    deflater.end();
    return count;
  }

  static void work(long until) {
    byte[] bytes = new byte[16384];
    for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) (i * 7 + (i >> 3));
    long sum = 0;
    while (System.currentTimeMillis() < until) {
      sum += compiledLoop(300000) + fib(20) + deep(300) + strings(1500) + collections(3000);
      sum += exceptions(1500) + allocate(300).length + nativeCall(bytes);
    }
    sink += sum;
  }

  public static void main(String[] arguments) throws Exception {
    long until = System.currentTimeMillis() + Long.parseLong(arguments[0]);
    List<Thread> threads = new ArrayList<>();
    for (int i = 1; i < Integer.parseInt(arguments[1]); i++) {
      threads.add(new Thread(() -> work(until), "worker-" + i));
    }
    for (Thread thread : threads) thread.start();
    work(until);
    for (Thread thread : threads) thread.join();
  }
}
