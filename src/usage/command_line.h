// The command line: which commands and options the program has, and what of them was typed.
//
// It is CLI11 that parses. Its templates cost each file that includes it 3 seconds of compiling,
// which was half of what a command's file took. So no header includes it: command_line.cc and
// usage.cc are compiled with it, and all other files see these classes, which have no templates.
//
//   Command program("profiler", "Shows where the time goes.");
//   uint32_t rows = 10;
//   Command& top = program.AddCommand("top", "Show the slowest functions");
//   top.AddOption("-n,--rows", rows, "show so many of them").ValueName("N").ShowDefault();
//   const Parsed parsed = program.Parse({"top", "-n", "3"});  // rows is 3, top.WasGiven()

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace profiler::usage {

struct Usage;

// Whether `--help` lists the values that an option can have.
enum class InHelp : bool { kNo, kYes };

// An option of a command, or one of its arguments. Copies stand for the same option, which lives as
// long as the program that it was added to. Functions that return an Option return this one again,
// so that calls can be chained.
class Option {
 public:
  Option() = default;  // none, until one is assigned

  // What `--help` calls the value: FILE in `--output FILE`.
  Option ValueName(const std::string& name) const;
  // `--help` shows what the variable has now, or `text`, as the value where none is given.
  Option ShowDefault() const;
  Option ShowDefault(const std::string& text) const;

  // It has to be given.
  Option Required() const;
  // Both together are an error.
  Option Excludes(Option other) const;
  // It may stand without a value, which is "" then.
  Option ValueMayBeMissing() const;
  // Of a list: each time that the option is given, it takes one word. Without this it takes all
  // words up to the next option.
  Option OneValueEach() const;

  // What values are right; others are an error. A range has the type of the option's variable.
  Option InRange(int least, int most, InHelp in_help = InHelp::kYes) const;
  Option InRange(uint32_t least, uint32_t most, InHelp in_help = InHelp::kYes) const;
  Option InRange(uint64_t least, uint64_t most, InHelp in_help = InHelp::kYes) const;
  Option InRange(double least, double most, InHelp in_help = InHelp::kYes) const;
  Option Positive() const;
  Option OneOf(const std::vector<std::string>& words, InHelp in_help = InHelp::kYes) const;
  Option ExistingFile() const;
  // A number of bytes, which may have a unit: 4K is 4096.
  Option AsSize() const;

  // How often it was given.
  size_t Count() const;
  // With its dashes, the long name where it has one.
  std::string Name() const;

  friend bool operator==(const Option&, const Option&) = default;

 private:
  friend class Command;
  explicit Option(CLI::Option* option) : option_(option) {}

  CLI::Option* option_ = nullptr;
};

// What a command line comes to.
struct Parsed {
  enum class Kind {
    kCommand,  // there is a command to run
    kAnswer,   // --help or --version was given: `text` is to be printed, and nothing to be run
    kError,    // `text` says what is wrong
  };
  Kind kind = Kind::kCommand;
  std::string text;
};

// The program, or one of its commands.
//
// The names of an option are written with commas between them: "-F,--freq". A name without dashes
// is that of an argument, which is told by its place alone: "FILE". A name that sets a flag to
// false has {false} behind it, or ! in front of it: "--big,--no-big{false}". Parse sets the
// variables, so they must live until then. Names that are taken or cannot be are a mistake in the
// program: CLI11 throws an exception of its own, in every run.
class Command {
 public:
  // Does something with a value. An error says what is wrong with it, and is one of Parse.
  using ReadValue = std::function<absl::Status(const std::string& value)>;

  // The program. `text` is the head of its `--help`.
  Command(const std::string& name, const std::string& text);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command();

  // A command of this program, which owns it.
  Command& AddCommand(const std::string& name, const std::string& text);
  // Options that `--help` lists under `heading`, and of which exactly one has to be given.
  Command& AddAlternatives(const std::string& heading);

  Option AddOption(const std::string& names, std::string& value, const std::string& text);
  Option AddOption(const std::string& names, int& value, const std::string& text);
  Option AddOption(const std::string& names, uint32_t& value, const std::string& text);
  Option AddOption(const std::string& names, uint64_t& value, const std::string& text);
  Option AddOption(const std::string& names, double& value, const std::string& text);
  Option AddOption(const std::string& names, std::optional<std::string>& value,
                   const std::string& text);
  Option AddOption(const std::string& names, std::optional<int>& value, const std::string& text);
  Option AddOption(const std::string& names, std::optional<uint32_t>& value,
                   const std::string& text);
  Option AddOption(const std::string& names, std::optional<double>& value, const std::string& text);
  Option AddOption(const std::string& names, std::vector<std::string>& values,
                   const std::string& text);
  // An option of one name, whose value is given to `read`.
  Option AddOption(const std::string& name, ReadValue read, const std::string& text);
  // Takes any value, and changes nothing.
  Option AddOption(const std::string& names, const std::string& text);

  Option AddFlag(const std::string& names, bool& value, const std::string& text);
  // Counts how often it is given.
  Option AddFlag(const std::string& names, int& count, const std::string& text);
  Option AddFlag(const std::string& names, std::function<void()> when_given,
                 const std::string& text);
  // Changes nothing.
  Option AddFlag(const std::string& names, const std::string& text);

  // What stands below the options in `--help`.
  void SetFooter(const std::string& text);
  // Adds --version, which answers with `text`.
  void SetVersion(const std::string& text);
  // One of the commands has to be given.
  void RequireCommand();
  // The first word that is none of the options begins the command line of a program to run.
  void SetRunsProgram();
  // The program's options may stand behind this command's name as well.
  void AcceptProgramOptions();

  std::string Name() const;
  bool RunsProgram() const;
  std::vector<std::string> CommandNames() const;
  std::string Help() const;

  // Reads the words behind the program's name. Is called once.
  [[nodiscard]] Parsed Parse(std::vector<std::string> arguments);

  // What follows is known once Parse was called.
  bool WasGiven() const;
  // How often the option of that name was given.
  size_t Count(const std::string& name) const;
  // In the order in which they were given, each as often as it was.
  std::vector<Option> GivenOptions() const;
  // Of a command that runs a program: that program's command line.
  std::vector<std::string> Remaining() const;

 private:
  friend Usage UsageOf(const Command& program);
  explicit Command(CLI::App* app);

  std::unique_ptr<CLI::App> program_;  // none in a command, whose program owns `app_`
  CLI::App* const app_;
  std::vector<std::unique_ptr<Command>> commands_;
  std::vector<std::unique_ptr<Command>> alternatives_;
};

// The version of CLI11.
std::string_view ParserVersion();

}  // namespace profiler::usage
