#include "tests/fuzz/command_line.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "src/terminal/visible_text.h"
#include "tests/fuzz/fuzz_target.h"

namespace profiler::fuzz {
namespace {

// A capture of the output to a stream of the C library, during the lifetime of this object.
class Taken {
 public:
  explicit Taken(std::FILE** stream)
      : stream_(stream), before_(std::exchange(*stream, open_memstream(&text_, &size_))) {
    Require(*stream_ != nullptr, "there is room for what is printed");
  }
  ~Taken() {
    std::fclose(std::exchange(*stream_, before_));
    std::free(text_);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  std::string Text() {
    std::fflush(*stream_);
    return std::string(text_, size_);
  }

 private:
  std::FILE** const stream_;
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* const before_;
};

void CheckVisible(const std::string& text, const char* law) {
  std::string buffer;
  Require(terminal::VisibleText(text, &buffer).data() == text.data(), law);
}

}  // namespace

Answer RunCommand(AddCommand add, std::vector<std::string> arguments) {
  usage::Command app("profiler", "");
  cli::Commands commands;
  add(app, commands);
  const std::string name = arguments.front();
  Require(app.Parse(std::move(arguments)).kind == usage::Parsed::Kind::kCommand,
          "the command has the options that it is given");
  Answer answer;
  {
    Taken out(&stdout), err(&stderr);
    for (const auto& [command, run] : commands) {
      if (command->Name() == name) answer.code = run();
    }
    answer.out = out.Text();
    answer.err = err.Text();
  }
  Require(answer.code >= cli::kExitOk && answer.code <= cli::kExitUsage,
          "an exit code is one of ours");
  Require(answer.code == cli::kExitOk || !answer.err.empty(), "what went wrong is said");
  CheckVisible(answer.out, "a terminal takes nothing of standard output for a command");
  CheckVisible(answer.err, "a terminal takes nothing of standard error for a command");
  return answer;
}

}  // namespace profiler::fuzz
