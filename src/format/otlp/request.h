// Encodes an ExportProfilesServiceRequest of opentelemetry.proto.collector.profiles.v1development,
// as of opentelemetry-proto v1.11.0 (July 2026). fields.h has the numbers of the fields.
//
//   ExportProfilesServiceRequest
//    ├─ resource_profiles ─┬─ resource ── attributes     the observed process: host, service, …
//    │                     └─ scope_profiles ─ profile   of one type of value
//    │                                          └─ sample {stack, attributes, values or times}
//    └─ dictionary     tables that all these refer to by index; element 0 of each is empty:
//                      mappings, locations, functions, links, stacks, attributes, strings
//
//   Request request;
//   {
//     ResourceProfiles resource(request, {{"service.name", "web"}}, ScopeOf("profiler 1.0"));
//     ProfileOfType profile(resource, {.type = "samples", .unit = "count"});
//     profile.Add({.stack = request.dictionary().AddStack(locations), .values = values});
//   }
//   std::string bytes = std::move(request).Finish();
//
// Texts must be UTF-8. Not thread-safe. Parts are written as they are added; a part is complete
// when its object is destroyed.

#pragma once

#include <cstdint>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/base/string_table.h"

namespace profiler::otlp {

// Path of the requests, to be appended to the URL of an HTTP server.
inline constexpr std::string_view kPath = "/v1development/profiles";

// The index of an element in its table; 0: the empty element.
using Number = int32_t;

struct Mapping {
  uint64_t start = 0, limit = 0, file_offset = 0;
  std::string_view filename;
  std::span<const Number> attributes = {};
};
struct Line {
  Number function = 0;
  int64_t line = 0;
};
struct Location {
  Number mapping = 0;
  std::optional<uint64_t> address;
  std::span<const Line> lines;  // the innermost inlined call first
  std::span<const Number> attributes = {};
};
struct Function {
  std::string_view name;
  std::string_view file = {};
};

// The tables. Adding an equal element again returns its index. Add only elements that a sample or a
// profile refers to, because receivers expect no unused ones.
class Dictionary {
 public:
  using Value = std::variant<std::string, int64_t>;

  Number String(std::string_view text) { return static_cast<Number>(strings_.Intern(text)); }
  Number Attribute(std::string_view key, const Value& value);
  Number Add(const Mapping& mapping);
  Number Add(const Location& location);
  Number Add(const Function& function);
  Number AddStack(std::span<const Number> locations);  // leaf first; returns 0 if empty

 private:
  friend class Request;
  // The elements of one table, beginning with `zero`.
  class Table {
   public:
    explicit Table(std::string zero) { Add(std::move(zero)); }
    Number Add(std::string element);
    void AppendTo(std::string& dictionary, uint32_t field) const;

   private:
    absl::flat_hash_map<std::string, Number> numbers_;
  };

  Dictionary();
  std::string Finish() &&;

  StringTable strings_;
  Table mappings_, locations_, functions_, links_, attributes_, stacks_;
};

class Request {
 public:
  Request() = default;
  Request(const Request&) = delete;

  Dictionary& dictionary() { return dictionary_; }
  // Returns the request's bytes; call it once, last.
  std::string Finish() &&;

 private:
  friend class ResourceProfiles;
  std::string bytes_;
  protozero::pbf_writer out_{bytes_};
  Dictionary dictionary_;
};

// The program that made the profiles.
struct Scope {
  std::string name, version;
};
// Splits "profiler 1.0" at its last space into name and version. Without a space the version is
// empty.
Scope ScopeOf(std::string_view producer);

// The profiles of one resource. Only one object may exist at a time.
class ResourceProfiles {
 public:
  using Value = std::variant<std::string, std::vector<std::string>>;
  using Attributes = std::vector<std::pair<std::string, Value>>;

  // Attributes with empty values are left out.
  ResourceProfiles(Request& request, const Attributes& attributes, const Scope& scope);
  ResourceProfiles(const ResourceProfiles&) = delete;

 private:
  friend class ProfileOfType;
  Dictionary& dictionary_;
  protozero::pbf_writer resource_profiles_, scope_profiles_;
};

// The type of a profile's values, and the time of its samples.
struct ProfileHead {
  std::string_view type, unit;  // such as "samples" and "count"
  uint64_t began = 0;           // ns since 1970; 0: unknown
  uint64_t duration = 0;        // in ns
  // A sample was taken every `period` of period_type; 0: unknown.
  int64_t period = 0;
  std::string_view period_type = {}, period_unit = {};
  std::string_view id = {};  // profile id of 16 bytes, or empty
  std::span<const Number> attributes = {};
};

struct Sample {
  Number stack = 0;
  std::span<const Number> attributes = {};
  std::span<const int64_t> values = {};
  std::span<const uint64_t> times = {};  // instead of values: times in ns since 1970
};

// The samples of one type of value. Only one object may exist at a time.
class ProfileOfType {
 public:
  ProfileOfType(ResourceProfiles& resource, const ProfileHead& head);
  ProfileOfType(const ProfileOfType&) = delete;

  void Add(const Sample& sample);

 private:
  protozero::pbf_writer profile_;
};

}  // namespace profiler::otlp
