// URLs as messages, files and pages show them: without what only their server should see.

#pragma once

#include <string>
#include <string_view>

namespace profiler {

// The URL without user, password, query and fragment. A text without a scheme ("user:word@host/x")
// is taken for a URL too.
std::string ShownUrl(std::string_view url);

// Replaces each URL in a text by ShownUrl of it. A URL is a word that contains "://".
std::string WithShownUrls(std::string_view text);

}  // namespace profiler
