// An ExportProfilesServiceRequest of opentelemetry.proto.collector.profiles.v1development, as
// opentelemetry-proto v1.11.0 (July 2026) has it. That version is no stable one: numbers of fields
// have changed before, and this is the one place that knows them.
//
//   ExportProfilesServiceRequest
//    ├─ resource_profiles ─┬─ resource ── attributes     who it is about: host, service, …
//    │                     └─ scope_profiles ─ profile   of one type of value
//    │                                          └─ sample {stack, attributes, values or times}
//    └─ dictionary     what all these name by number; the first of each table is the empty one:
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
// Texts must be UTF-8. Not thread-safe. Parts are written as they are added, and are part of the
// request when their object goes.

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

// Where HTTP servers take requests, below their URL.
inline constexpr std::string_view kPath = "/v1development/profiles";

// The number of an element of a table; 0: the empty one.
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
  std::span<const Line> lines;  // innermost first
  std::span<const Number> attributes = {};
};
struct Function {
  std::string_view name;
  std::string_view file = {};
};

// The tables. Equal elements are one: adding one again returns the number that it has. Add only
// what a sample or a profile refers to: receivers expect no element that nothing refers to.
class Dictionary {
 public:
  using Value = std::variant<std::string, int64_t>;

  Number String(std::string_view text) { return static_cast<Number>(strings_.Intern(text)); }
  Number Attribute(std::string_view key, const Value& value);
  Number Add(const Mapping& mapping);
  Number Add(const Location& location);
  Number Add(const Function& function);
  Number AddStack(std::span<const Number> locations);  // the leaf first; 0 where there is none

 private:
  friend class Request;
  // The elements of one table, of which the first is `zero`.
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
  // Once, last.
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
// Splits "profiler 1.0" at its last space into name and version. Without a space all is the name.
Scope ScopeOf(std::string_view producer);

// One at a time.
class ResourceProfiles {
 public:
  using Value = std::variant<std::string, std::vector<std::string>>;
  using Attributes = std::vector<std::pair<std::string, Value>>;

  // Attributes without a value are left out.
  ResourceProfiles(Request& request, const Attributes& attributes, const Scope& scope);
  ResourceProfiles(const ResourceProfiles&) = delete;

 private:
  friend class ProfileOfType;
  Dictionary& dictionary_;
  protozero::pbf_writer resource_profiles_, scope_profiles_;
};

// What a profile's samples are values of, and when they were taken.
struct ProfileHead {
  std::string_view type, unit;  // "samples", "count"
  uint64_t began = 0;           // nanoseconds since 1970; 0: unknown
  uint64_t duration = 0;        // nanoseconds
  // How often a sample was taken: every `period` of these. 0: unknown.
  int64_t period = 0;
  std::string_view period_type = {}, period_unit = {};
  std::string_view id = {};  // 16 bytes, or none
  std::span<const Number> attributes = {};
};

struct Sample {
  Number stack = 0;
  std::span<const Number> attributes = {};
  std::span<const int64_t> values = {};
  std::span<const uint64_t> times = {};  // in nanoseconds since 1970; instead of values
};

// One at a time.
class ProfileOfType {
 public:
  ProfileOfType(ResourceProfiles& resource, const ProfileHead& head);
  ProfileOfType(const ProfileOfType&) = delete;

  void Add(const Sample& sample);

 private:
  protozero::pbf_writer profile_;
};

}  // namespace profiler::otlp
