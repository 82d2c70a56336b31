// Programs to record, each with function names that a test can look for.
//
//   busy SECONDS            one thread computes in Outer → Inner
//   threads N SECONDS       each of N threads computes 1.5 ms in ThreadWork every two seconds
//   forks RATE SECONDS      forks RATE children per second; each computes 2 ms in ChildWork
//   dlopen LIBRARY SECONDS  repeatedly loads LIBRARY, calls its PluginWork and unloads it
//   exec SECONDS            computes in BeforeExec, then executes itself as `busy`
//   idle SECONDS            sleeps
//   exit CODE, kill SIGNAL  ends with this code or signal
//
// Prints the CPU seconds that the program and its children used. Each piece of work is longer than
// the sampling period; shorter pieces would get few samples.

#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
thread_local volatile uint64_t sink;

[[gnu::noinline]] void Compute(std::chrono::microseconds duration) {
  const auto end = Clock::now() + duration;
  uint64_t state = 1;
  do {
    for (int i = 0; i < 2000; ++i) state = state * 6364136223846793005u + 1442695040888963407u;
    sink = state;
  } while (Clock::now() < end);
}

std::chrono::microseconds Seconds(const char* text) {
  return std::chrono::microseconds(static_cast<int64_t>(std::atof(text) * 1e6));
}

double CpuSeconds(int who) {
  rusage usage;
  getrusage(who, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

}  // namespace

// The functions are in the dynamic symbol table and never inlined, so that tests find their names
// and frames.
extern "C" {

[[gnu::noinline]] void Inner(std::chrono::microseconds duration) {
  Compute(duration);
  asm volatile("");
}

[[gnu::noinline]] void Outer(std::chrono::microseconds duration) {
  Inner(duration);
  asm volatile("");
}

[[gnu::noinline]] void ThreadWork() {
  Compute(std::chrono::microseconds(1500));
  asm volatile("");
}

[[gnu::noinline]] void ChildWork() {
  Compute(std::chrono::microseconds(2000));
  asm volatile("");
}

[[gnu::noinline]] void BeforeExec() {
  Compute(std::chrono::microseconds(200000));
  asm volatile("");
}

}  // extern "C"

namespace {

void RunThreads(int count, std::chrono::microseconds duration) {
  const auto end = Clock::now() + duration;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([end] {
      while (Clock::now() < end) {
        ThreadWork();
        std::this_thread::sleep_for(std::chrono::milliseconds(2000));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void RunForks(int rate, std::chrono::microseconds duration) {
  const auto start = Clock::now();
  for (auto next = start; next < start + duration;
       next += std::chrono::microseconds(1000000 / rate)) {
    std::this_thread::sleep_until(next);
    if (fork() == 0) {
      ChildWork();
      _exit(0);
    }
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
  while (wait(nullptr) > 0) {
  }
}

int RunDlopen(const char* library, std::chrono::microseconds duration) {
  const auto end = Clock::now() + duration;
  while (Clock::now() < end) {
    void* handle = dlopen(library, RTLD_NOW);
    if (handle == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    reinterpret_cast<void (*)()>(dlsym(handle, "PluginWork"))();
    dlclose(handle);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "busy" && argc == 3) {
    Outer(Seconds(argv[2]));
  } else if (mode == "threads" && argc == 4) {
    RunThreads(std::atoi(argv[2]), Seconds(argv[3]));
  } else if (mode == "forks" && argc == 4) {
    RunForks(std::atoi(argv[2]), Seconds(argv[3]));
  } else if (mode == "dlopen" && argc == 4) {
    if (RunDlopen(argv[2], Seconds(argv[3])) != 0) return 1;
  } else if (mode == "exec" && argc == 3) {
    BeforeExec();
    execl("/proc/self/exe", "workload", "busy", argv[2], nullptr);
    return 1;
  } else if (mode == "idle" && argc == 3) {
    std::this_thread::sleep_for(Seconds(argv[2]));
  } else if (mode == "exit" && argc == 3) {
    return std::atoi(argv[2]);
  } else if (mode == "kill" && argc == 3) {
    raise(std::atoi(argv[2]));
  } else {
    std::fprintf(stderr, "usage: workload busy|threads|forks|dlopen|exec|idle|exit|kill …\n");
    return 2;
  }
  std::printf("%.6f\n", CpuSeconds(RUSAGE_SELF) + CpuSeconds(RUSAGE_CHILDREN));
  return 0;
}
