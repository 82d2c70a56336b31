#include "src/cli/fleet/server_arguments.h"

namespace profiler::cli {

void AddServerOptions(usage::Command& command, http::Options& options) {
  const usage::Option user =
      command
          .AddOption("--user-file", options.user_file,
                     "a file with one line USER:PASSWORD, to sign in with; only its user may be "
                     "able to read it")
          .ValueName("FILE");
  command
      .AddOption("--token-file", options.token_file,
                 "a file with one line, a token to sign in with; read again for each request, so "
                 "that it can be renewed")
      .ValueName("FILE")
      .Excludes(user);
  command
      .AddOption("--ca-file", options.ca_file,
                 "certificates of the authorities to trust, PEM (default: those of the system)")
      .ValueName("FILE");
  command
      .AddOption("--cert-file", options.certificate_file,
                 "a certificate of this machine's own, PEM, where a server asks for one")
      .ValueName("FILE");
  command.AddOption("--key-file", options.key_file, "the key of that certificate, PEM")
      .ValueName("FILE");
  command
      .AddOption("--proxy", options.proxy,
                 "a proxy to go through (default: as the environment says, https_proxy and "
                 "no_proxy)")
      .ValueName("URL");
}

}  // namespace profiler::cli
