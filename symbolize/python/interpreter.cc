#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "symbolize/python/frames.h"
#include "symbolize/python/known_layouts.h"
#include "symbolize/python/python_process.h"

namespace profiler::symbolize::python {
namespace {

std::string Spelled(uint32_t full_version) {
  return absl::StrCat(full_version >> 24, ".", full_version >> 16 & 0xff);
}

absl::Status Unreadable() {
  return absl::FailedPreconditionError("the memory of the interpreter cannot be read");
}

absl::Status DiffersFrom(uint16_t version, std::string_view object) {
  return absl::FailedPreconditionError(absl::StrCat(
      std::string(object), " differs from that of CPython ", Spelled(uint32_t{version} << 16)));
}

class Examination {
 public:
  Examination(const PythonImage& image, uint64_t bias, ProcessMemory& memory)
      : image_(image), bias_(bias), memory_(memory) {}

  absl::StatusOr<Interpreter> Run() {
    if (const absl::Status status = FindLayout(); !status.ok()) return status;
    if (const absl::Status status = CheckTypes(); !status.ok()) return status;
    if (const absl::Status status = CheckStates(); !status.ok()) return status;
    if (const absl::Status status = CheckFrames(); !status.ok()) return status;
    return interpreter_;
  }

 private:
  uint64_t At(ElfAddress address) const { return address.value + bias_; }

  // Finds the version and its layout.
  absl::Status FindLayout() {
    const uint64_t runtime = At(image_.runtime);
    std::array<std::byte, kDebugOffsetsBytes> start;
    if (memory_.Read(runtime, start)) {
      if (const auto offsets = ReadDebugOffsets(start)) {
        interpreter_.full_version = offsets->full_version;
        interpreter_.is_free_threaded = offsets->is_free_threaded;
        known_ = offsets->layout;
      }
    } else if (!memory_.Value<uint64_t>(runtime)) {
      return Unreadable();
    }
    if (!known_ && interpreter_.full_version == 0 && image_.version) {
      const auto version = memory_.Value<uint64_t>(At(*image_.version));
      if (!version) return Unreadable();
      interpreter_.full_version = static_cast<uint32_t>(*version);
    }
    interpreter_.version = interpreter_.full_version != 0
                               ? static_cast<uint16_t>(interpreter_.full_version >> 16)
                               : image_.least_version;
    if (interpreter_.full_version == 0 && interpreter_.version > kPython310) {
      interpreter_.version = 0;
    }
    if (!known_) known_ = LayoutOfVersion(interpreter_.version);
    if (!known_) {
      return absl::UnimplementedError(
          interpreter_.version == 0
              ? "the version of CPython is unknown"
              : absl::StrCat("the layout of CPython ",
                             Spelled(uint32_t{interpreter_.version} << 16), " is unknown"));
    }
    interpreter_.layout = known_->layout;
    interpreter_.layout.walk.interpreters_head = runtime + known_->interpreters_head;
    return absl::OkStatus();
  }

  // Compares the sizes that types have in memory.
  absl::Status CheckTypes() {
    const auto check = [&](const std::optional<ElfAddress>& type, uint64_t size,
                           std::string_view name) {
      if (!type || size == 0) return absl::OkStatus();
      const auto own = memory_.Value<uint64_t>(At(*type) + interpreter_.layout.code.type_size);
      if (!own) return Unreadable();
      // The linker may have exported the type without its values: they are set when it starts.
      if (*own == 0) return absl::UnavailableError("the interpreter has not started yet");
      return *own == size ? absl::OkStatus() : DiffersFrom(interpreter_.version, name);
    };
    const absl::Status code = check(image_.code_type, known_->code_size, "the code type");
    if (!code.ok()) return code;
    if (image_.code_type) interpreter_.types.code = At(*image_.code_type);
    // A process may end before its first dictionary is read.
    if (image_.dictionary_type) interpreter_.types.dictionary = At(*image_.dictionary_type);
    return check(image_.frame_type, known_->frame_size, "the frame type");
  }

  // Compares the addresses with which interpreters and threads point back.
  absl::Status CheckStates() {
    const WalkLayout& walk = interpreter_.layout.walk;
    const auto first = memory_.Value<uint64_t>(walk.interpreters_head);
    if (!first) return Unreadable();
    if (*first == 0) return absl::UnavailableError("the interpreter has not started yet");
    if (known_->interpreter_runtime != kPythonNoField) {
      const auto runtime = memory_.Value<uint64_t>(*first + known_->interpreter_runtime);
      if (!runtime) return DiffersFrom(interpreter_.version, "the state of the interpreter");
      if (*runtime == 0) return absl::UnavailableError("the interpreter is starting");
      if (*runtime != At(image_.runtime)) {
        return DiffersFrom(interpreter_.version, "the state of the interpreter");
      }
    }
    const auto thread = memory_.Value<uint64_t>(*first + walk.interpreter_threads);
    if (!thread) return DiffersFrom(interpreter_.version, "the state of the interpreter");
    if (*thread == 0) return absl::UnavailableError("the interpreter has no thread yet");
    if (memory_.Value<uint64_t>(*thread + walk.thread_interpreter) != *first) {
      return DiffersFrom(interpreter_.version, "the state of a thread");
    }
    return absl::OkStatus();
  }

  // Reads the code objects of the frames. A running thread may change its frames meanwhile, so one
  // good frame is enough.
  absl::Status CheckFrames() {
    constexpr size_t kMostThreads = 16, kMostFrames = 8;
    constexpr int kMostTries = 3;
    const WalkLayout& walk = interpreter_.layout.walk;
    bool has_frame = false;
    for (int i = 0; i < kMostTries; ++i) {
      for (const uint64_t thread : ReadThreads(memory_, walk, kMostThreads)) {
        for (const Frame& frame : ReadFrames(memory_, walk, thread, kMostFrames).frames) {
          has_frame = true;
          if (IsCode(frame.code)) return absl::OkStatus();
        }
      }
    }
    if (!has_frame) return absl::UnavailableError("no thread of the interpreter runs Python");
    return DiffersFrom(interpreter_.version, "a frame");
  }

  // Returns true if the fields of the code object are of their types. Notes these types.
  bool IsCode(uint64_t address) {
    CodeLayout& layout = interpreter_.layout.code;
    const uint16_t usual = layout.text_state_shift;
    // In free-threaded builds, one byte or two may come first.
    for (const uint16_t shift : {usual, uint16_t{8}, uint16_t{16}}) {
      layout.text_state_shift = shift;
      if (HasFields(address)) return true;
      if (!interpreter_.is_free_threaded) break;
    }
    layout.text_state_shift = usual;
    return false;
  }
  bool HasFields(uint64_t address) {
    constexpr size_t kMost = 4096;
    const WalkLayout& walk = interpreter_.layout.walk;
    Objects objects(memory_, interpreter_.layout, interpreter_.types);
    if (!objects.IsCode(address)) return false;
    const auto is_text = [&](uint16_t offset) {
      const auto text = memory_.Value<uint64_t>(address + offset);
      return text && objects.Text(*text, kMost).has_value();
    };
    if (!is_text(walk.code_name) || !is_text(walk.code_file)) return false;
    if (walk.code_qualified_name != kPythonNoField && !is_text(walk.code_qualified_name)) {
      return false;
    }
    const auto lines = memory_.Value<uint64_t>(address + walk.code_lines);
    if (!lines || !objects.BytesSize(*lines)) return false;
    interpreter_.types = objects.types();
    return true;
  }

  const PythonImage& image_;
  const uint64_t bias_;
  ProcessMemory& memory_;
  Interpreter interpreter_;
  std::optional<KnownLayout> known_;
};

}  // namespace

absl::StatusOr<Interpreter> Recognise(const PythonImage& image, uint64_t bias,
                                      ProcessMemory& memory) {
  return Examination(image, bias, memory).Run();
}

}  // namespace profiler::symbolize::python
