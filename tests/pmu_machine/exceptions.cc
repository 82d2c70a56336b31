// exceptions N: throws N exceptions from nine calls deep. Catch catches each exception and then
// calls Work, which computes.

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

extern "C" {

volatile uint64_t sink;
// Rounds of Work, chosen so that Work takes a tenth of the time. Throwing and catching
// take nine tenths.
constexpr uint64_t kRounds = 5000;

[[gnu::noinline, gnu::noclone]] void Work(uint64_t rounds) {
  volatile uint64_t x = 1;
  for (uint64_t i = 0; i < rounds; ++i) x = x * 3 + 1;
  sink = sink + x;
}

// Has a local object with a destructor, so that unwinding must stop in each frame.
[[gnu::noinline, gnu::noclone]] uint64_t Throw(int depth) {
  const std::string kept(static_cast<size_t>(40 + depth), 'x');
  if (depth == 0) {
    Work(kRounds);
    throw std::runtime_error("thrown");
  }
  return Throw(depth - 1) + kept.size();
}

[[gnu::noinline, gnu::noclone]] void Catch() {
  try {
    sink = Throw(8);
  } catch (const std::exception& error) {
    Work(kRounds + std::string(error.what()).size());
  }
}

}  // extern "C"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (int i = std::atoi(argv[1]); i > 0; --i) Catch();
  return 0;
}
