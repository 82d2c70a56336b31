#include "src/base/unlink_on_signal.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <utility>

namespace profiler {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
constexpr size_t kSlots = 16;
constexpr size_t kNoSlot = kSlots;

// A path for the handler, which may not allocate.
struct Slot {
  std::atomic<bool> taken = false;
  // True if `path` is complete; stored with release.
  std::atomic<bool> filled = false;
  std::array<char, PATH_MAX> path;
};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler needs it

std::array<Slot, kSlots> g_slots;

// Raises the signal again; it ends the process after the handler returns, because SA_RESETHAND has
// restored its default effect.
void UnlinkAll(int signal) {
  UnlinkAllNow();
  raise(signal);
}

void HandleSignals() {
  struct sigaction action = {};
  action.sa_handler = UnlinkAll;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int signal : kSignals) sigaddset(&action.sa_mask, signal);
  for (const int signal : kSignals) {
    struct sigaction former;
    if (sigaction(signal, nullptr, &former) == 0 && former.sa_handler == SIG_DFL) {
      sigaction(signal, &action, nullptr);
    }
  }
}

size_t TakeSlot(const std::string& path) {
  if (path.size() >= PATH_MAX) return kNoSlot;
  for (size_t i = 0; i < kSlots; ++i) {
    if (g_slots[i].taken.exchange(true)) continue;
    std::memcpy(g_slots[i].path.data(), path.c_str(), path.size() + 1);
    g_slots[i].filled = true;
    return i;
  }
  return kNoSlot;
}

}  // namespace

void UnlinkAllNow() {
  for (const Slot& slot : g_slots) {
    if (slot.filled) unlink(slot.path.data());
  }
}

UnlinkOnSignal::UnlinkOnSignal(const std::string& path) : slot_(TakeSlot(path)) { HandleSignals(); }

UnlinkOnSignal::UnlinkOnSignal(UnlinkOnSignal&& other) noexcept
    : slot_(std::exchange(other.slot_, kNoSlot)) {}

UnlinkOnSignal::~UnlinkOnSignal() {
  if (slot_ == kNoSlot) return;
  g_slots[slot_].filled = false;
  g_slots[slot_].taken = false;
}

}  // namespace profiler
