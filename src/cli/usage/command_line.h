// The command line: declares the program's commands and options, and parses the words that were
// typed.
//
// CLI11 does the parsing. A file that includes its templates takes 3 seconds longer to compile,
// which would double the compile time of a command. So only command_line.cc, help_text.cc and
// usage.cc include CLI11. All other files use the classes of this header, which have no templates.
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

// Columns of a help text that is not for a terminal.
inline constexpr size_t kDefaultColumns = 80;

// kYes: `--help` lists the values that an option accepts.
enum class InHelp : bool { kNo, kYes };

// A handle of an option or argument of a command. Copies refer to the same option, which lives as
// long as its program. Setters return the same handle, so that calls can be chained.
class Option {
 public:
  Option() = default;  // A handle of no option.

  // Sets the name of the value in `--help`: FILE in `--output FILE`.
  Option ValueName(const std::string& name) const;
  // Makes `--help` show `text`, or the variable's current value, as the default.
  Option ShowDefault() const;
  Option ShowDefault(const std::string& text) const;

  // Makes it an error to leave the option out.
  Option Required() const;
  // Makes it an error to give this option together with `other`.
  Option Excludes(Option other) const;
  // Allows the user to omit the value; the option then has the value "".
  Option ValueMayBeMissing() const;
  // Makes a list take one word each time the option is given. Without this it takes all words up to
  // the next option.
  Option OneValueEach() const;

  // The functions below restrict the values; other values are an error. A range has the type of the
  // option's variable.
  Option InRange(int least, int most, InHelp in_help = InHelp::kYes) const;
  Option InRange(uint32_t least, uint32_t most, InHelp in_help = InHelp::kYes) const;
  Option InRange(uint64_t least, uint64_t most, InHelp in_help = InHelp::kYes) const;
  Option InRange(double least, double most, InHelp in_help = InHelp::kYes) const;
  Option Positive() const;
  Option OneOf(const std::vector<std::string>& words, InHelp in_help = InHelp::kYes) const;
  Option ExistingFile() const;
  // Reads a number of bytes with an optional unit: 4K is 4096.
  Option AsSize() const;

  // Returns how often the option was given; 0 for a handle of no option.
  size_t Count() const;
  // Returns the name with its dashes; the long name if there are two.
  std::string Name() const;

  friend bool operator==(const Option&, const Option&) = default;

 private:
  friend class Command;
  explicit Option(CLI::Option* option) : option_(option) {}

  CLI::Option* option_ = nullptr;
};

// The result of parsing a command line.
struct Parsed {
  enum class Kind {
    kCommand,  // run the command
    kAnswer,   // --help or --version: print `text` and run nothing
    kError,    // `text` is the message
  };
  Kind kind = Kind::kCommand;
  std::string text;
};

// The program, or one of its commands.
//
// The names of an option are separated by commas: "-F,--freq". A name without dashes, such as
// "FILE", makes an argument, which is recognised by its position. A name that sets a flag to false
// is followed by {false} or preceded by !: "--big,--no-big{false}". Parse sets the variables, so
// they must live until then. A duplicate or malformed name is a bug in the program: CLI11 throws an
// exception in every run.
//
// If an option of one value is given several times, the last one counts. The beginning of a long
// name stands for the name if no other name begins like it: --no-ch for --no-children.
class Command {
 public:
  // A function that uses a value. If it returns an error, Parse reports it; the message must say
  // what is wrong with the value.
  using ReadValue = std::function<absl::Status(const std::string& value)>;

  // Makes the program. `--help` begins with `text`.
  Command(const std::string& name, const std::string& text);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command();

  // Adds a command, which the program owns.
  Command& AddCommand(const std::string& name, const std::string& text);
  // Adds a group of options, which `--help` lists under `heading`. Exactly one option of the group
  // must be given.
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
  // Adds an option whose value Parse passes to `read`.
  Option AddOption(const std::string& names, ReadValue read, const std::string& text);
  // Adds an option that accepts any value and sets no variable.
  Option AddOption(const std::string& names, const std::string& text);

  Option AddFlag(const std::string& names, bool& value, const std::string& text);
  // Counts how often the flag is given.
  Option AddFlag(const std::string& names, int& count, const std::string& text);
  Option AddFlag(const std::string& names, std::function<void()> when_given,
                 const std::string& text);
  // Adds a flag that sets no variable.
  Option AddFlag(const std::string& names, const std::string& text);

  // Adds an option of another program that this one does not have. To give it is an error, whose
  // message is `instead`: it says what serves instead. `value` names its value; "": it takes none.
  Option AddRefused(const std::string& names, const std::string& value, const std::string& instead);

  // Sets the text below the options in `--help`.
  void SetFooter(const std::string& text);
  // Adds --version, which prints `text`.
  void SetVersion(const std::string& text);
  // Makes it an error to give no command.
  void RequireCommand();
  // Ends the options at the first word that is no option. The command line of a program to run
  // begins with this word.
  void SetRunsProgram();
  // Allows the program's options after this command's name, too.
  void AcceptProgramOptions();

  std::string Name() const;
  bool RunsProgram() const;
  std::vector<std::string> CommandNames() const;
  // Returns the text of `--help`, at most `columns` wide.
  std::string Help(size_t columns = kDefaultColumns) const;

  // Parses the words after the program's name. Call it once. `columns` is the width of `--help`.
  [[nodiscard]] Parsed Parse(std::vector<std::string> arguments, size_t columns = kDefaultColumns);

  // Call the functions below only after Parse.
  bool WasGiven() const;
  // Returns how often the option of that name was given; 0 if the command has no such option.
  size_t Count(const std::string& name) const;
  // Returns the options in the order they were given. An option that was given twice occurs twice.
  std::vector<Option> GivenOptions() const;
  // Returns the command line of the program to run; see SetRunsProgram.
  std::vector<std::string> Remaining() const;

 private:
  friend Usage UsageOf(const Command& program);
  explicit Command(CLI::App* app);
  static Option LastCounts(CLI::Option* option);

  std::unique_ptr<CLI::App> program_;  // null in a command, because its program owns `app_`
  CLI::App* const app_;
  std::vector<std::unique_ptr<Command>> commands_;
  std::vector<std::unique_ptr<Command>> alternatives_;
};

// Returns the version of CLI11.
std::string_view ParserVersion();

}  // namespace profiler::usage
