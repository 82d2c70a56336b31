// profiler symbolize: names addresses of a file, or of a running process.

#include <charconv>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/terminal/output.h"
#include "src/cli/views/naming_arguments.h"
#include "src/profile/naming/live_process.h"
#include "src/profile/naming/naming.h"
#include "symbolize/symbolizer.h"

namespace profiler::cli {
namespace {

struct SymbolizeArguments {
  std::string file;
  pid_t pid = 0;  // process whose addresses are given, instead of `file`
  std::vector<std::string> addresses;
  std::vector<std::string> debug_directories;
  bool no_sandbox = false;
  bool show_addresses = false;
  bool show_columns = false;
  bool no_inline = false;
  bool no_demangle = false;
};

// Parses hexadecimal digits, with or without 0x.
std::optional<uint64_t> ParseAddress(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, 16);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool Readable(symbolize::Reason reason) {
  return reason == symbolize::Reason::kNamed || reason == symbolize::Reason::kNoSymbol;
}

class AddressPrinter {
 public:
  explicit AddressPrinter(const SymbolizeArguments& arguments)
      : arguments_(arguments), symbolizer_(naming::MakeNameStore({}, Options(arguments))) {
    symbolize::ImageSpec spec;
    spec.path = arguments.file;
    // The folder is needed, because debug files are searched beside the file.
    if (spec.path.find('/') == std::string::npos) spec.path.insert(0, "./");
    image_ = symbolizer_->AddImage(spec);
  }

  // Opens a process; then Print takes addresses in this process.
  absl::Status ReadProcess(pid_t pid) {
    PROFILER_ASSIGN_OR_RETURN(naming::LiveProcess process,
                              naming::LiveProcess::Read(pid, *symbolizer_));
    process_.emplace(std::move(process));
    return absl::OkStatus();
  }

  // Prints the names of an address; prints nothing if the file cannot be read.
  symbolize::Reason Print(uint64_t address, Output& output) {
    symbolize::Naming naming =
        process_ ? process_->Name(address) : symbolizer_->NameAt(image_, {address});
    // In a process each address may belong to another file, so one unreadable file is no reason to
    // stop.
    if (process_ && naming.functions.empty()) naming.reason = symbolize::Reason::kNoSymbol;
    if (!Readable(naming.reason)) return naming.reason;
    text_.clear();
    if (arguments_.show_addresses) {
      absl::StrAppend(&text_, "0x", absl::Hex(address, absl::kZeroPad16), "\n");
    }
    if (naming.functions.empty()) text_ += "??\n??:0\n";
    if (arguments_.no_inline && !naming.functions.empty()) {
      // Prints the name of the function whose compiled code contains the address, together with the
      // line of the instruction, which may be in an inlined function.
      symbolize::NamedFunction function = naming.functions.front();
      function.name = naming.functions.back().name;
      AppendFunction(function);
    } else {
      for (const symbolize::NamedFunction& function : naming.functions) AppendFunction(function);
    }
    text_ += '\n';
    output.Write(text_);
    return naming.reason;
  }

 private:
  static naming::NamingOptions Options(const SymbolizeArguments& arguments) {
    naming::NamingOptions options;
    options.is_this_machine = true;
    options.demangle = !arguments.no_demangle;
    options.places.debug_directories = arguments.debug_directories;
    options.places.no_sandbox = arguments.no_sandbox;
    // The cache contains files that ran in recordings, but not the files that users name here.
    options.places.no_cache = true;
    options.warn = PrintWarning;
    return options;
  }

  void AppendFunction(const symbolize::NamedFunction& function) {
    absl::StrAppend(&text_, View(function.name), "\n");
    absl::StrAppend(&text_, function.file.empty() ? "??" : View(function.file), ":");
    if (function.line != 0) {
      absl::StrAppend(&text_, function.line);
    } else {
      text_ += function.file.empty() ? "0" : "?";
    }
    if (arguments_.show_columns) absl::StrAppend(&text_, ":", function.column);
    text_ += '\n';
  }

  const SymbolizeArguments& arguments_;
  std::unique_ptr<symbolize::Symbolizer> symbolizer_;
  symbolize::ImageId image_;
  std::optional<naming::LiveProcess> process_;
  std::string text_;
};

int Symbolize(const SymbolizeArguments& arguments) {
  AddressPrinter printer(arguments);
  if (arguments.pid != 0) {
    if (const absl::Status read = printer.ReadProcess(arguments.pid); !read.ok()) {
      PrintError(read);
      return kExitFailure;
    }
  }
  Output output("-");
  bool sound = true;
  // Prints the names of one address. Returns false if no further address can be printed.
  const auto print = [&](const std::string& text) {
    const std::optional<uint64_t> address = ParseAddress(text);
    if (!address) {
      PrintError(absl::InvalidArgumentError(absl::StrCat("this is not an address: '", text, "'")));
      sound = false;
      return true;
    }
    const symbolize::Reason reason = printer.Print(*address, output);
    if (Readable(reason)) return true;
    PrintError(absl::NotFoundError(absl::StrCat(
        arguments.file, reason == symbolize::Reason::kNotElf
                            ? ": the file is not an ELF file of this machine's byte order"
                            : ": cannot be opened")));
    sound = false;
    return false;
  };
  if (!arguments.addresses.empty()) {
    for (const std::string& address : arguments.addresses) {
      if (!print(address)) break;
    }
  } else {
    for (std::string address; std::cin >> address && print(address);) {
      // A user who types addresses one by one waits for each answer.
      if (std::cin.rdbuf()->in_avail() <= 0) output.Flush();
    }
  }
  const absl::Status written = output.Close();
  if (!written.ok()) PrintError(written);
  return sound && written.ok() ? kExitOk : kExitFailure;
}

}  // namespace

void AddSymbolizeCommand(usage::Command& app, Commands& commands) {
  usage::Command& command = app.AddCommand(
      "symbolize",
      "Print function and file:line of addresses in an ELF file or a running process, "
      "like\naddr2line -i -f -C: inlined functions first, and a blank line after each address");
  auto arguments = std::make_shared<SymbolizeArguments>();
  SymbolizeArguments& a = *arguments;
  usage::Command& from = command.AddAlternatives("Where the addresses are");
  from.AddOption("-e,--exe", a.file, "ELF file: program, library or debug file");
  from.AddOption(
          "-p,--pid", a.pid,
          "running process; addresses in its memory, including vDSO, JIT-compiled code and kernel")
      .Positive()
      .ValueName("PID");
  command
      .AddOption("address", a.addresses,
                 "addresses in hexadecimal, as in the file (default: read from standard input)")
      .ValueName("ADDR");
  command.AddFlag("-a,--addresses", a.show_addresses, "print each address before its functions");
  command.AddFlag("--columns", a.show_columns, "print file:line:column");
  command.AddFlag("--no-inline", a.no_inline, "show only the outer function, without inlined ones");
  command.AddFlag("--no-demangle", a.no_demangle, "print mangled names, as the linker has them");
  command
      .AddOption("--debug-dir", a.debug_directories,
                 "directory of separate debug files (default: /usr/lib/debug)")
      .ValueName("DIR");
  AddSandboxOption(command, a.no_sandbox);
  commands[&command] = [arguments] { return Symbolize(*arguments); };
}

}  // namespace profiler::cli
