// Removes secrets from URLs before they are shown in messages, files and pages.

#pragma once

#include <string>
#include <string_view>

namespace profiler {

// Returns the URL without user, password, query and fragment. A text without a scheme
// ("user:word@host/x") is treated as a URL, too.
std::string ShownUrl(std::string_view url);

// Replaces each URL in a text by its ShownUrl. A URL is a word that contains "://".
std::string WithShownUrls(std::string_view text);

}  // namespace profiler
