// profiler open

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "src/cli/command.h"
#include "src/cli/terminal/output.h"
#include "src/cli/terminal/redirect_file.h"
#include "src/cli/views/page_view.h"
#include "src/cli/views/report_options.h"
#include "src/http/page_server.h"

namespace profiler::cli {
namespace {

struct OpenArguments {
  ViewArguments view;
  uint32_t port = 0;
  bool source = false;
  bool no_browser = false;
};

// True if a browser can open a window. False as root, because a browser should not run with root's
// rights, and most browsers refuse to.
bool HasDesktop() {
  return geteuid() != 0 && (getenv("DISPLAY") != nullptr || getenv("WAYLAND_DISPLAY") != nullptr);
}

// Passes an address to the desktop's opener. A missing opener does not matter, because the address
// has been printed.
void ShowInBrowser(const std::string& address) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  std::string program = "xdg-open", argument = address;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  // This program does not wait for the child. The child ends once it has notified the browser, or
  // when this program ends.
  [[maybe_unused]] const int failed =
      posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
}

int RunOpen(const OpenArguments& arguments) {
  const ViewArguments& view = arguments.view;
  auto page = PageText(view, {.event = view.event, .source = arguments.source});
  if (const int* exit_code = std::get_if<int>(&page)) return *exit_code;
  boost::asio::io_context context;
  const auto server = serve::PageServer::Listen(context, std::get<std::string>(std::move(page)),
                                                static_cast<uint16_t>(arguments.port));
  if (!server.ok()) {
    PrintError(server.status());
    return kExitFailure;
  }
  boost::asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
  signals.async_wait([&](const boost::system::error_code&, int) {
    signals.clear();  // a second signal has its default effect
    context.stop();
  });
  Output output("-");
  output.Write(absl::StrCat((*server)->address(), "\n"));
  if (const absl::Status written = output.Close(); !written.ok()) {
    PrintError(written);
    return kExitFailure;
  }
  PrintNote("for browsers on this machine, until Ctrl-C");
  std::unique_ptr<RedirectFile> redirect;
  if (!arguments.no_browser && HasDesktop()) {
    auto file = RedirectFile::Create((*server)->address());
    if (file.ok()) {
      redirect = *std::move(file);
      ShowInBrowser(redirect->url());
    } else {
      PrintWarning(absl::StrCat("no browser was opened: ", std::string(file.status().message())));
    }
  }
  context.run();
  return kExitOk;
}

}  // namespace

void AddOpenCommand(usage::Command& app, Commands& commands) {
  usage::Command& command =
      app.AddCommand("open", "Show a recording in the browser: all views in one page");
  command.SetFooter(
      "The page is served on 127.0.0.1, at a random address, until Ctrl-C. To keep or send it: "
      "profiler report -o FILE.html.");
  auto arguments = std::make_shared<OpenArguments>();
  OpenArguments& a = *arguments;
  AddViewOptions(command, a.view, {.output = nullptr});
  AddInlineOption(command, a.view);
  AddFoldOption(command, a.view);
  AddNameRules(command, a.view.names);
  AddSourceOption(command, a.source);
  command.AddOption("--port", a.port, "port to listen on; 0: any free port")
      .InRange(uint32_t{0}, uint32_t{65535})
      .ShowDefault();
  command.AddFlag("--no-browser", a.no_browser, "print the address, but do not open a browser");
  commands[&command] = RunView(command, a.view, [arguments] { return RunOpen(*arguments); });
}

}  // namespace profiler::cli
