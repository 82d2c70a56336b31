#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "src/importers/testing/views.h"

namespace profiler::importers {
namespace {

using protozero::pbf_writer;

// Returns a message with the fields that `write` adds.
template <class Write>
std::string Message(Write write) {
  std::string bytes;
  pbf_writer writer(bytes);
  write(writer);
  return bytes;
}

std::string Packed(uint32_t field, const std::vector<uint64_t>& numbers) {
  return Message(
      [&](pbf_writer& w) { w.add_packed_uint64(field, numbers.begin(), numbers.end()); });
}

// Returns the tables: main calls work in /bin/app; the thread "worker" has pid 7 and tid 8.
std::string DictionaryOf() {
  return Message([](pbf_writer& w) {
    for (const uint32_t table : {1, 2, 3, 4, 6, 7}) w.add_message(table, std::string());
    w.add_message(1, Message([](pbf_writer& m) {  // mapping
                    m.add_uint64(1, 0x400000);
                    m.add_uint64(3, 0x1000);
                    m.add_uint64(4, 1);
                  }));
    for (const uint64_t function : {1, 2}) {
      w.add_message(2, Message([&](pbf_writer& m) {  // location
                      m.add_uint64(1, 1);
                      m.add_uint64(2, 0x400010 * function);
                      m.add_message(3, Message([&](pbf_writer& line) {
                                      line.add_uint64(1, function);
                                      line.add_uint64(2, 10 * function);
                                    }));
                    }));
      w.add_message(3, Message([&](pbf_writer& m) { m.add_uint64(1, 1 + function); }));
    }
    w.add_message(7, Packed(1, {2, 1}));  // a stack, the leaf first
    const auto attribute = [&](uint64_t key, auto add_value) {
      w.add_message(6, Message([&](pbf_writer& m) {
                      m.add_uint64(1, key);
                      m.add_message(2, Message(add_value));
                    }));
    };
    attribute(4, [](pbf_writer& value) { value.add_int64(3, 7); });
    attribute(5, [](pbf_writer& value) { value.add_int64(3, 8); });
    attribute(6, [](pbf_writer& value) { value.add_string(1, "worker"); });
    for (const char* const text : {"", "/bin/app", "main", "work", "process.pid", "thread.id",
                                   "thread.name", "samples", "count", "cpu", "nanoseconds"}) {
      w.add_string(5, text);
    }
  });
}

// Returns a profile of one sample. `sample` has the sample's fields besides the stack and the
// attributes.
std::string ProfileOf(uint64_t type, uint64_t unit, const std::string& sample) {
  return Message([&](pbf_writer& w) {
    w.add_message(1, Message([&](pbf_writer& value) {
                    value.add_uint64(1, type);
                    value.add_uint64(2, unit);
                  }));
    w.add_message(
        2, Message([](pbf_writer& m) { m.add_uint64(1, 1); }) + Packed(2, {1, 2, 3}) + sample);
  });
}

std::string RequestOf(const std::vector<std::string>& profiles) {
  return Message([&](pbf_writer& w) {
    w.add_message(1, Message([&](pbf_writer& resource) {
                    resource.add_message(2, Message([&](pbf_writer& scope) {
                                           for (const auto& one : profiles) {
                                             scope.add_message(2, one);
                                           }
                                         }));
                  }));
    w.add_message(2, DictionaryOf());
  });
}

TEST(AProfileOfOpenTelemetry, HasStacksThreadsAndValues) {
  const auto loaded = Load(FileWith(RequestOf({ProfileOf(9, 10, Packed(4, {500}))})));
  EXPECT_EQ(EventsOf(loaded.profile), "cpu 1/500");
  EXPECT_EQ(FoldedOf(loaded.profile), "worker;main;work 500\n");
  EXPECT_EQ(loaded.profile.threads[0].pid, 7u);
  EXPECT_EQ(loaded.profile.threads[0].tid, 8u);
}

TEST(AProfileOfOpenTelemetry, HasCountsAndPeriodsAsOneEvent) {
  const std::string times = Message([](pbf_writer& w) {
    const std::vector<uint64_t> nanoseconds = {1000, 3000};
    w.add_packed_fixed64(5, nanoseconds.begin(), nanoseconds.end());
  });
  const auto loaded =
      Load(FileWith(RequestOf({ProfileOf(7, 8, times), ProfileOf(9, 10, Packed(4, {501}))})));
  EXPECT_EQ(EventsOf(loaded.profile), "cpu 2/501");
  EXPECT_EQ(loaded.recording->features().sample_time->first, 1000u);
  EXPECT_EQ(loaded.recording->features().sample_time->last, 3000u);
}

TEST(AProfileOfOpenTelemetry, ThatIsCutIsRefused) {
  const std::string whole = RequestOf({ProfileOf(9, 10, Packed(4, {500}))});
  EXPECT_EQ(ErrorOf(FileWith(whole.substr(0, whole.size() - 5)))
                .find("F: OpenTelemetry: the file is cut or damaged"),
            0u);
}

}  // namespace
}  // namespace profiler::importers
