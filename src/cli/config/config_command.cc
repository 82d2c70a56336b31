#include "src/cli/config/config_command.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/cli/config/config_file.h"
#include "src/cli/terminal/output.h"

namespace profiler::cli {
namespace {

int PrintSettings(const std::vector<std::string>& keys) {
  const absl::StatusOr<config::ConfigFile> file = config::ReadConfigFile();
  if (!file.ok()) {
    PrintError(file.status());
    return kExitUsage;
  }
  if (!file->ignored.empty()) {
    PrintWarning(absl::StrCat(file->path, " is not read: ", file->ignored));
  }
  Output output("-");
  for (const config::Setting& setting : file->settings) {
    if (keys.empty()) output.Write(absl::StrCat(setting.key, "=", setting.value, "\n"));
  }
  bool has_all = true;
  for (const std::string& key : keys) {
    const config::Setting* last = nullptr;
    for (const config::Setting& setting : file->settings) {
      if (setting.key == key) last = &setting;
    }
    if (last != nullptr) output.Write(absl::StrCat(key, "=", last->value, "\n"));
    has_all = has_all && last != nullptr;
  }
  return output.Close().ok() && has_all ? kExitOk : kExitFailure;
}

}  // namespace

void AddConfigCommand(usage::Command& app, Commands& commands) {
  usage::Command& command =
      app.AddCommand("config", "Print the settings of the configuration file");
  auto keys = std::make_shared<std::vector<std::string>>();
  command.AddOption("KEY", *keys, "print only these settings, such as report.children");
  command.AddFlag("-l,--list", "print all settings (default)");
  commands[&command] = [keys] { return PrintSettings(*keys); };
}

}  // namespace profiler::cli
