#include "src/cli/fleet/server_arguments.h"

namespace profiler::cli {

void AddServerOptions(usage::Command& command, http::Options& options) {
  const usage::Option user = command
                                 .AddOption("--user-file", options.user_file,
                                            "file with one line USER:PASSWORD for the server; only "
                                            "its owner may be able to read it")
                                 .ValueName("FILE");
  command
      .AddOption("--token-file", options.token_file,
                 "file with a token for the server; it is read again for each request")
      .ValueName("FILE")
      .Excludes(user);
  command
      .AddOption("--ca-file", options.ca_file,
                 "trusted CA certificates, PEM (default: the system's)")
      .ValueName("FILE");
  command
      .AddOption("--cert-file", options.certificate_file, "client certificate of this machine, PEM")
      .ValueName("FILE");
  command.AddOption("--key-file", options.key_file, "key of the client certificate, PEM")
      .ValueName("FILE");
  command.AddOption("--proxy", options.proxy, "proxy to use (default: $https_proxy and $no_proxy)")
      .ValueName("URL");
}

}  // namespace profiler::cli
