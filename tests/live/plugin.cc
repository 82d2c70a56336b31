// The library that `workload dlopen` loads and unloads.

#include <chrono>
#include <cstdint>

namespace {
volatile uint64_t sink;
}

extern "C" [[gnu::visibility("default")]] void PluginWork() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  uint64_t state = 1;
  do {
    for (int i = 0; i < 2000; ++i) state = state * 6364136223846793005u + 1442695040888963407u;
    sink = state;
  } while (std::chrono::steady_clock::now() < end);
}
