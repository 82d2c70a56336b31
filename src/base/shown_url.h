// Removes secrets from URLs before they are shown in messages, files and pages.

#pragma once

#include <string>
#include <string_view>

namespace profiler {

// Returns the URL without user, password, query and fragment. A URL may lack its scheme
// ("user:word@host/x").
std::string ShownUrl(std::string_view url);

// Replaces each URL in `text` by its ShownUrl. A URL is a word that contains "://".
std::string WithShownUrls(std::string_view text);

}  // namespace profiler
