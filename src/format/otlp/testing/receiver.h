// Reads a request as a receiver does, for tests. The field numbers here are copied from the
// published protocol (opentelemetry-proto 1.11.0), not from request.cc. Throws for invalid indices,
// and for everything that the protocol or the conventions forbid.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace profiler::otlp {

class Receiver {
 public:
  explicit Receiver(const std::string& bytes) {
    Reader request(bytes);
    std::vector<std::string> resources;
    while (request.next()) {
      if (request.tag() == 1) {
        resources.push_back(request.get_string());
      } else {
        Require(request.tag() == 2, "a field of the request that nobody knows");
        ReadDictionary(request.get_message());
      }
    }
    for (const std::string& resource : resources) ReadResource(Reader(resource));
    for (const auto& [table, elements] : tables_) {
      for (size_t i = 1; i < elements.size(); ++i) {
        Require(used_.contains({table, i}), "an element that nothing refers to");
      }
    }
  }

  std::string text;                       // description of the request; two lines per sample
  std::map<std::string, int64_t> totals;  // sum of the values, keyed by their type
  std::set<std::string> ids;
  size_t functions() const { return tables_.at(kFunctions).size() - 1; }

 private:
  using Reader = protozero::pbf_reader;
  enum Table : uint32_t {
    kMappings = 1,
    kLocations = 2,
    kFunctions = 3,
    kLinks = 4,
    kStrings = 5,
    kAttributes = 6,
    kStacks = 7
  };

  static void Require(bool is_so, std::string_view what) {
    if (!is_so) throw std::runtime_error(std::string(what));
  }

  void ReadDictionary(Reader dictionary) {
    while (dictionary.next()) {
      const auto table = static_cast<Table>(dictionary.tag());
      Require(table >= kMappings && table <= kStacks, "a table that nobody knows");
      tables_[table].push_back(dictionary.get_string());
    }
    for (const Table table : {kMappings, kLocations, kFunctions, kStrings, kAttributes, kStacks}) {
      Require(!tables_[table].empty() && tables_[table].front().empty(), "element 0 is not empty");
    }
    Require(tables_[kLinks].size() == 1 &&
                tables_[kLinks].front() == std::string("\x0a\x10", 2) + std::string(16, '\0') +
                                               std::string("\x12\x08", 2) + std::string(8, '\0'),
            "link 0");
    for (const auto& [table, elements] : tables_) {
      const std::set<std::string> distinct(elements.begin(), elements.end());
      Require(distinct.size() == elements.size(), "an element that is there twice");
    }
  }

  const std::string& At(Table table, int64_t number) {
    Require(number >= 0, "a number below 0");
    used_.insert({table, static_cast<size_t>(number)});
    return tables_[table].at(static_cast<size_t>(number));
  }
  const std::string& String(int64_t number) { return At(kStrings, number); }

  static std::vector<int32_t> Packed(Reader& message) {
    const auto range = message.get_packed_int32();
    return {range.begin(), range.end()};
  }

  static std::string Value(Reader any) {
    std::string value;
    while (any.next()) {
      if (any.tag() == 1) {
        value = any.get_string();
      } else if (any.tag() == 3) {
        value = absl::StrCat(any.get_int64());
      } else {
        Require(any.tag() == 5, "a kind of value that nobody knows");
        Reader array = any.get_message();
        std::vector<std::string> values;
        while (array.next()) values.push_back(Value(array.get_message()));
        value = absl::StrCat("[", absl::StrJoin(values, ","), "]");
      }
    }
    return value;
  }

  // Returns "key=value" of a KeyValue, or of a KeyValueAndUnit if keys are indices (`by_number`).
  std::string Attribute(Reader attribute, bool by_number) {
    std::string key, value;
    while (attribute.next()) {
      if (attribute.tag() == 1) {
        key = by_number ? String(attribute.get_int32()) : attribute.get_string();
      } else {
        value = Value(attribute.get_message());
      }
    }
    return key + "=" + value;
  }

  std::vector<std::string> Attributes(Reader& message) {
    std::vector<std::string> attributes;
    std::set<std::string> keys;
    for (const int32_t number : Packed(message)) {
      attributes.push_back(Attribute(Reader(At(kAttributes, number)), true));
      Require(keys.insert(attributes.back().substr(0, attributes.back().find('='))).second,
              "a key that is there twice");
    }
    return attributes;
  }

  std::string Mapping(int64_t number) {
    Reader mapping(At(kMappings, number));
    std::string name, ids;
    while (mapping.next()) {
      if (mapping.tag() == 4) {
        name = String(mapping.get_int32());
      } else if (mapping.tag() == 5) {
        for (const std::string& attribute : Attributes(mapping)) {
          constexpr std::string_view kKey = "process.executable.build_id.";
          if (absl::StartsWith(attribute, "process.executable.build_id.")) {
            absl::StrAppend(&ids, " ", attribute.substr(kKey.size()));
          }
        }
      } else {
        mapping.skip();
      }
    }
    Require(number == 0 || !ids.empty(), "a mapping without a build-id");
    return name + ids;
  }

  std::string Function(int64_t number) {
    Reader function(At(kFunctions, number));
    std::string name;
    while (function.next()) {
      const std::string& text = String(function.get_int32());
      if (function.tag() == 1) name = text;
    }
    Require(!name.empty(), "a function without a name");
    return name;
  }

  // Returns "inlined+function(type)<image>". For a location without a mapping, `image` is "~" and
  // the path in its attributes.
  std::string Location(int64_t number) {
    Reader location(At(kLocations, number));
    std::string image, names, type = "-";
    while (location.next()) {
      if (location.tag() == 1) {
        const std::string mapping = Mapping(location.get_int32());
        if (!mapping.empty()) image = mapping;
      } else if (location.tag() == 3) {
        Reader line = location.get_message();
        while (line.next()) {
          if (line.tag() == 1) {
            absl::StrAppend(&names, names.empty() ? "" : "+", Function(line.get_int32()));
          } else {
            line.skip();
          }
        }
      } else if (location.tag() == 4) {
        for (const std::string& attribute : Attributes(location)) {
          const size_t equals = attribute.find('=');
          const std::string value = attribute.substr(equals + 1);
          if (absl::StartsWith(attribute, "profile.frame.type=")) type = value;
          if (absl::StartsWith(attribute, "process.executable.path=")) image = "~" + value;
        }
      } else {
        location.skip();
      }
    }
    return absl::StrCat(names, type == "native" ? "" : absl::StrCat("(", type, ")"), "<", image,
                        ">");
  }

  std::string Stack(int64_t number) {
    Reader stack(At(kStacks, number));
    std::string names;
    while (stack.next()) {
      for (const int32_t location : Packed(stack)) absl::StrAppend(&names, Location(location), " ");
    }
    return names;
  }

  void ReadResource(Reader resource_profiles) {
    std::string who, by;
    std::vector<std::string> profiles;
    while (resource_profiles.next()) {
      const uint32_t field = resource_profiles.tag();
      Reader message = resource_profiles.get_message();
      while (message.next()) {
        if (field == 1) {
          absl::StrAppend(&who, Attribute(message.get_message(), false), " ");
        } else if (message.tag() == 2) {
          profiles.push_back(message.get_string());
        } else {
          Reader scope = message.get_message();
          while (scope.next()) {
            const uint32_t part = scope.tag();  // read the tag first: get_string() forgets it
            absl::StrAppend(&by, part, ":", scope.get_string(), " ");
          }
        }
      }
    }
    Require(absl::StrContains(who, "service.name="), "a resource without service.name");
    for (const std::string& profile : profiles) ReadProfile(Reader(profile), who + "by " + by);
  }

  std::string Type(Reader type) {
    std::string name;
    while (type.next()) absl::StrAppend(&name, name.empty() ? "" : "/", String(type.get_int32()));
    return name;
  }

  void ReadProfile(Reader profile, const std::string& who) {
    constexpr uint64_t kSecond = 1'000'000'000;
    std::string type, head;
    std::vector<std::string> samples;
    uint64_t began = 0, duration = 0;
    while (profile.next()) {
      switch (profile.tag()) {
        case 1:
          type = Type(profile.get_message());
          break;
        case 2:
          samples.push_back(profile.get_string());
          break;
        case 3:
          began = profile.get_fixed64();
          absl::StrAppend(&head, " at ", began / kSecond);
          break;
        case 4:
          duration = profile.get_uint64();
          absl::StrAppend(&head, " for ", duration / kSecond);
          break;
        case 5:
          absl::StrAppend(&head, " every ", Type(profile.get_message()));
          break;
        case 6:
          absl::StrAppend(&head, " ", profile.get_int64());
          break;
        case 7:
          ids.insert(profile.get_string());
          break;
        case 11:
          absl::StrAppend(&head, " ", absl::StrJoin(Attributes(profile), " "));
          break;
        default:
          Require(false, "a field of a profile that nobody knows");
      }
    }
    std::set<std::string> seen;
    for (const std::string& sample : samples) {
      ReadSample(Reader(sample), who + type + head, type, began, began + duration, seen);
    }
  }

  void ReadSample(Reader sample, const std::string& head, const std::string& type, uint64_t begin,
                  uint64_t end, std::set<std::string>& seen) {
    std::string who, shown;
    int64_t value = 0;
    size_t observations = 0;
    while (sample.next()) {
      switch (sample.tag()) {
        case 1:
          who += Stack(sample.get_int32());
          break;
        case 2:
          who += absl::StrJoin(Attributes(sample), " ") + " ";
          break;
        case 4:
          for (const int64_t one : sample.get_packed_int64()) {
            value += one;
            ++observations;
          }
          shown = absl::StrCat(value);
          break;
        case 5:
          for (const uint64_t time : sample.get_packed_fixed64()) {
            Require(time >= begin && time < end, "a time outside of its profile's");
            absl::StrAppend(&shown, shown.empty() ? "" : ",", time - begin);
            ++observations;
            ++value;
          }
          break;
        default:
          Require(false, "a field of a sample that nobody knows");
      }
    }
    Require(observations != 0, "a sample without values and times");
    Require(seen.insert(who).second, "two samples of one identity");
    totals[type] += value;
    absl::StrAppend(&text, head, "\n  ", who, shown, "\n");
  }

  std::map<Table, std::vector<std::string>> tables_;
  std::set<std::pair<Table, size_t>> used_;
};

}  // namespace profiler::otlp
