// Runs programs instruction by instruction and unwinds at each instruction. The chain must equal
// the chain that the test records by watching calls and returns:
//
//   a call     the stack pointer moves down by 8, to an address directly after the call
//   a return   frames below the stack pointer are gone, by ret or by an exception
//   a signal   the kernel makes a frame on another stack, and removes it by rt_sigreturn

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolize/address_space.h"
#include "symbolize/image_file.h"
#include "symbolize/names/testing/create_symbolizer.h"
#include "symbolize/symbolizer.h"
#include "symbolize/unwind/unwind_images.h"

#if defined(__x86_64__)

namespace profiler::symbolize {
namespace {

constexpr size_t kCopied = 16384;
constexpr int kMaxSteps = 2'000'000;
// Most steps during which libgcc hands over one of the test's two exceptions.
constexpr int kMostHandedOver = 300;

// Reads another process's memory. Returns the number of bytes before the first unreadable byte.
size_t ReadProcess(pid_t pid, uint64_t address, std::span<std::byte> bytes) {
  iovec local{bytes.data(), bytes.size()};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process.
  iovec remote{reinterpret_cast<void*>(address), bytes.size()};
  const ssize_t size = process_vm_readv(pid, &local, 1, &remote, 1, 0);
  return size < 0 ? 0 : static_cast<size_t>(size);
}

class ProcessSpace : public MappedSpace {
 public:
  explicit ProcessSpace(UnwindImages& images) : MappedSpace(images) {}
  bool ReadMemory(uint64_t address, std::span<std::byte> bytes) override {
    return ReadProcess(static_cast<pid_t>(pid()), address, bytes) == bytes.size();
  }
};

// A frame of the expected chain.
struct Expected {
  uint64_t address = 0;
  uint64_t slot = 0;  // if `address` is a return address: the stack address at which it is
  bool is_return_address = true;
};

class Stepper {
 public:
  explicit Stepper(const std::string& program)
      : images_([this](ImageId image, uint32_t, const Mapping&) { return Open(image); }),
        space_(images_) {
    pid_ = fork();
    if (pid_ == 0) {
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      execl(program.c_str(), program.c_str(), nullptr);
      _exit(127);
    }
  }
  ~Stepper() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  // Runs to the first breakpoint. Returns false if that is impossible here.
  bool Start() {
    int status = 0;
    if (waitpid(pid_, &status, 0) != pid_ || !WIFSTOPPED(status)) return false;
    ptrace(PTRACE_CONT, pid_, nullptr, nullptr);
    if (waitpid(pid_, &status, 0) != pid_ || !WIFSTOPPED(status)) return false;
    if (WSTOPSIG(status) != SIGTRAP) return false;
    ReadMaps();
    ReadRegisters();
    Unwind();
    EXPECT_TRUE(chain_.whole()) << ChainEndName(chain_.end);
    // The callers of main are taken from the first chain.
    for (size_t i = chain_.frames.size(); i-- > 1;) {
      calls_.push_back({chain_.frames[i].address.value, ~uint64_t{0}});
    }
    return true;
  }

  // Runs to the second breakpoint.
  void Run() {
    int deliver = 0;
    for (; steps_ < kMaxSteps; ++steps_) {
      const user_regs_struct before = registers_;
      ptrace(PTRACE_SINGLESTEP, pid_, nullptr, deliver);
      int status = 0;
      ASSERT_EQ(waitpid(pid_, &status, 0), pid_);
      ASSERT_TRUE(WIFSTOPPED(status)) << "the program ended after " << steps_ << " steps";
      ReadRegisters();
      const bool is_delivered = std::exchange(deliver, 0) != 0;
      if (WSTOPSIG(status) != SIGTRAP) {
        deliver = WSTOPSIG(status);
        continue;
      }
      if (is_delivered) {
        EnterHandler(before.rip);
      } else if (IsBreakpoint(before.rip)) {
        return;
      } else {
        Follow(before);
      }
      Compare();
      if (differences_ > 5) return;
    }
    FAIL() << "no second breakpoint";
  }

  int steps() const { return steps_; }
  int differences() const { return differences_; }
  int handed_over() const { return handed_over_; }
  int partial_chains() const { return partial_chains_; }
  int whole_partial_chains() const { return whole_partial_chains_; }

 private:
  std::optional<UnwindImageFiles> Open(ImageId image) {
    const std::string& path = paths_[static_cast<size_t>(image)];
    OpenedImage opened = path == "[vdso]" ? OpenVdso({.kind = ImageKind::kVdso, .path = path})
                                          : OpenImage({.path = path}, {});
    if (!opened.file) return std::nullopt;
    return UnwindImageFiles{*std::move(opened.file), std::nullopt};
  }

  void ReadMaps() {
    std::ifstream maps(absl::StrCat("/proc/", pid_, "/maps"));
    for (std::string line; std::getline(maps, line);) {
      std::istringstream words(line);
      std::string range, rights, offset, device, inode, path;
      words >> range >> rights >> offset >> device >> inode >> path;
      if (rights.find('x') == std::string::npos || path.empty()) continue;
      const uint64_t start = std::stoull(range, nullptr, 16);
      const uint64_t end = std::stoull(range.substr(range.find('-') + 1), nullptr, 16);
      addresses_.Map({{start},
                      end - start,
                      FileOffset{std::stoull(offset, nullptr, 16)},
                      ImageId(static_cast<uint32_t>(paths_.size()))});
      paths_.push_back(path);
    }
    space_.Enter(static_cast<uint32_t>(pid_), addresses_);
  }

  void ReadRegisters() { ptrace(PTRACE_GETREGS, pid_, nullptr, &registers_); }

  uint64_t Word(uint64_t address) const {
    uint64_t word = 0;
    ReadProcess(pid_, address, std::as_writable_bytes(std::span(&word, 1)));
    return word;
  }

  bool IsBreakpoint(uint64_t pc) const { return (Word(pc) & 0xff) == 0xcc; }
  bool IsSignalReturn(const user_regs_struct& before) const {
    return (Word(before.rip) & 0xffff) == 0x050f && before.rax == 15;
  }

  void Follow(const user_regs_struct& before) {
    if (IsSignalReturn(before) && !interrupted_.empty()) {
      calls_ = interrupted_.back();
      interrupted_.pop_back();
      return;
    }
    while (!calls_.empty() && calls_.back().slot < registers_.rsp) calls_.pop_back();
    const uint64_t top = Word(registers_.rsp);
    const bool is_call = registers_.rsp == before.rsp - 8 && top > before.rip &&
                         top <= before.rip + 8 && registers_.rip != top;
    if (is_call) calls_.push_back({top, registers_.rsp});
  }

  // Records that a signal handler begins.
  void EnterHandler(uint64_t interrupted) {
    interrupted_.push_back(calls_);
    // The next two frames stay until rt_sigreturn, because the handler runs on another stack.
    calls_.push_back({interrupted, ~uint64_t{0}, false});
    calls_.push_back({Word(registers_.rsp), registers_.rsp, false});
  }

  void Unwind() {
    RegisterSet registers(Architecture::kX86_64);
    const uint64_t values[] = {registers_.rax, registers_.rdx, registers_.rcx, registers_.rbx,
                               registers_.rsi, registers_.rdi, registers_.rbp, registers_.rsp,
                               registers_.r8,  registers_.r9,  registers_.r10, registers_.r11,
                               registers_.r12, registers_.r13, registers_.r14, registers_.r15,
                               registers_.rip};
    for (unsigned i = 0; i < std::size(values); ++i) registers.Set(i, values[i]);
    stack_.resize(kCopied);
    stack_.resize(ReadProcess(pid_, registers_.rsp, stack_));
    unwinder_.Unwind(registers, {registers_.rsp, stack_}, space_, {}, &chain_);
  }

  void Compare() {
    Unwind();
    if (Matches(1, calls_.size())) return CompareWithoutRegisters();
    if (LeadsToCatcher()) {
      ++handed_over_;
      return;
    }
    if (differences_++ < 3) ADD_FAILURE() << "step " << steps_ << Difference();
  }

  // Unwinds with pc and sp only, like a waiting thread, of which no other registers are known. The
  // chain may end early, but all its frames must be right. Runs only at every 16th step, because
  // decoding the instructions takes long.
  void CompareWithoutRegisters() {
    constexpr int kEach = 16;
    if (steps_ % kEach != 0) return;
    RegisterSet registers(Architecture::kX86_64);
    const RegisterNumbers numbers = NumbersOf(Architecture::kX86_64);
    registers.Set(numbers.pc, registers_.rip);
    registers.Set(numbers.sp, registers_.rsp);
    unwinder_.Unwind(registers, {registers_.rsp, stack_}, space_, {}, &partial_);
    ++partial_chains_;
    whole_partial_chains_ += partial_.whole() ? 1 : 0;
    bool is_right = !partial_.whole() || partial_.frames.size() == chain_.frames.size();
    for (size_t i = 0; i < partial_.frames.size(); ++i) {
      is_right = is_right && i < chain_.frames.size() &&
                 partial_.frames[i].address == chain_.frames[i].address;
    }
    if (is_right) return;
    chain_ = partial_;
    if (differences_++ < 3) ADD_FAILURE() << "step " << steps_ << Difference();
  }

  // Returns true while libgcc hands over an exception. libgcc's function overwrites its saved
  // registers with the registers of the catching function, and its return address with an address
  // in the catching function. After that, the chain leads from libgcc's function directly to the
  // catching function, without the frames in between.
  bool LeadsToCatcher() {
    for (size_t i = 0; i < 2 && i + 1 < chain_.frames.size(); ++i) {
      const std::string_view name = NameOf(chain_.frames[i].address.value);
      if (name != "_Unwind_RaiseException" && name != "_Unwind_Resume") continue;
      const size_t callers = chain_.frames.size() - i - 2;
      // At libgcc's last instructions, the chain also lacks the call that the catching function
      // made.
      if (callers < calls_.size()) catcher_ = NameOf(calls_[callers].address);
      return callers <= calls_.size() && Matches(i + 2, callers) &&
             NameOf(chain_.frames[i + 1].address.value) == catcher_;
    }
    return false;
  }

  std::string_view NameOf(uint64_t address) {
    const Mapping* mapping = addresses_.Find({address});
    if (mapping == nullptr) return {};
    const ImageId image =
        symbolizer_->AddImage({.path = paths_[static_cast<size_t>(mapping->image)]});
    const Naming naming =
        symbolizer_->Name(image, mapping->place + (address - mapping->start.value));
    return naming.functions.empty() ? std::string_view() : naming.functions[0].name;
  }

  // Returns true if the frames from `first` on are the `count` outermost expected ones.
  bool Matches(size_t first, size_t count) const {
    if (!chain_.whole() || chain_.frames.size() != first + count) return false;
    for (size_t i = 0; i < count; ++i) {
      const Expected& expected = calls_[count - 1 - i];
      const UnwoundFrame& frame = chain_.frames[first + i];
      if (frame.address.value != expected.address ||
          frame.is_return_address != expected.is_return_address) {
        return false;
      }
    }
    return true;
  }

  std::string Place(uint64_t address) const {
    const Mapping* mapping = addresses_.Find({address});
    if (mapping == nullptr) return absl::StrCat("0x", absl::Hex(address));
    return absl::StrCat(paths_[static_cast<size_t>(mapping->image)], "+0x",
                        absl::Hex(address - mapping->start.value + mapping->place.value));
  }

  std::string Difference() const {
    std::string text = absl::StrCat("\nexpected ", Place(registers_.rip));
    for (size_t i = calls_.size(); i-- > 0;) {
      absl::StrAppend(&text, "\n         ", Place(calls_[i].address));
    }
    for (const UnwoundFrame& frame : chain_.frames) {
      absl::StrAppend(&text, "\nunwound  ", Place(frame.address.value),
                      frame.is_return_address ? "" : " exactly");
    }
    return absl::StrCat(text, "\n", std::string(ChainEndName(chain_.end)));
  }

  pid_t pid_ = -1;
  AddressSpace addresses_;
  std::vector<std::string> paths_;  // index: ImageId
  std::unique_ptr<Symbolizer> symbolizer_ = CreateSymbolizer({});
  UnwindImages images_;
  ProcessSpace space_;
  Unwinder unwinder_{nullptr};
  UnwoundChain chain_;
  UnwoundChain partial_;  // the last chain of CompareWithoutRegisters
  int partial_chains_ = 0, whole_partial_chains_ = 0;

  user_regs_struct registers_{};
  std::vector<std::byte> stack_;
  std::vector<Expected> calls_;  // outermost first
  std::vector<std::vector<Expected>> interrupted_;
  int steps_ = 0;
  int differences_ = 0;
  std::string catcher_;  // name of the function that caught the last exception
  int handed_over_ = 0;
};

class SingleStepTest : public testing::TestWithParam<const char*> {};

TEST_P(SingleStepTest, UnwindsRightAtEveryInstruction) {
  Stepper stepper(std::string(std::getenv("TEST_SRCDIR")) + "/" + std::getenv("TEST_WORKSPACE") +
                  "/symbolize/unwind/testdata/stepped_" + GetParam());
  if (!stepper.Start()) GTEST_SKIP() << "no process can be traced here";
  stepper.Run();
  EXPECT_GT(stepper.steps(), 500);
  EXPECT_EQ(stepper.differences(), 0);
  EXPECT_LE(stepper.handed_over(), kMostHandedOver);
  std::printf(
      "%s: %d steps, %d of them handing over an exception; %d of %d whole by two registers\n",
      GetParam(), stepper.steps(), stepper.handed_over(), stepper.whole_partial_chains(),
      stepper.partial_chains());
}

INSTANTIATE_TEST_SUITE_P(Programs, SingleStepTest,
                         testing::Values("gcc_O0", "gcc_O2", "gcc_static", "clang_O2"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace profiler::symbolize

#endif  // __x86_64__
