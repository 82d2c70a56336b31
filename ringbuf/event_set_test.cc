#include "ringbuf/event_set.h"

#include <cerrno>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ringbuf/testing/fake_kernel.h"

namespace profiler::ringbuf {
namespace {

using Call = FakeKernel::Call;

perf_event_attr Attr(uint64_t config) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = config;
  attr.disabled = 1;
  attr.inherit = 1;
  return attr;
}

// Returns options with two attrs on two CPUs.
EventSetOptions TwoByTwo() {
  EventSetOptions options;
  options.attrs = {Attr(10), Attr(20)};
  options.cpus = {0, 1};
  options.ring_pages = 16;
  return options;
}

std::unique_ptr<EventSet> MakeSet(FakeKernel& kernel, EventSetOptions options) {
  auto set = EventSet::Create(kernel, std::move(options));
  EXPECT_TRUE(set.ok()) << set.status();
  return *std::move(set);
}

std::string Ids(const EventSet& set) {
  std::string text;
  for (const EventSet::OpenedEvent& event : set.events()) {
    text += std::to_string(event.id) + ": attr " + std::to_string(event.attr) + " tid " +
            std::to_string(event.tid) + " cpu " + std::to_string(event.cpu) + "\n";
  }
  return text;
}

TEST(EventSet, RefusesWhatCannotBeOpened) {
  FakeKernel kernel;
  EventSetOptions options = TwoByTwo();
  options.attrs.clear();
  EXPECT_EQ(EventSet::Create(kernel, options).status().message(), "no events to open");
  options = TwoByTwo();
  options.cpus.clear();
  EXPECT_EQ(EventSet::Create(kernel, options).status().message(), "no CPUs to record on");
  options = TwoByTwo();
  options.ring_pages = 12;
  EXPECT_EQ(EventSet::Create(kernel, options).status().message(),
            "a ring of 12 pages: must be a power of two");
}

TEST(EventSet, FirstThreadOwnsTheRingsAndAllElseWritesToThem) {
  FakeKernel kernel;
  const auto set = MakeSet(kernel, TwoByTwo());
  EXPECT_EQ(kernel.open_events(), 0u);
  ASSERT_TRUE(set->AddThread(7).ok());
  ASSERT_TRUE(set->AddThread(8).ok());
  EXPECT_EQ(kernel.Describe(),
            "id 1: tid 7 config 10 disabled owns the ring of cpu 0\n"
            "id 2: tid 7 config 20 disabled -> ring of cpu 0\n"
            "id 3: tid 7 config 10 disabled owns the ring of cpu 1\n"
            "id 4: tid 7 config 20 disabled -> ring of cpu 1\n"
            "id 5: tid 8 config 10 disabled -> ring of cpu 0\n"
            "id 6: tid 8 config 20 disabled -> ring of cpu 0\n"
            "id 7: tid 8 config 10 disabled -> ring of cpu 1\n"
            "id 8: tid 8 config 20 disabled -> ring of cpu 1\n");
  EXPECT_EQ(Ids(*set),
            "1: attr 0 tid 7 cpu 0\n2: attr 1 tid 7 cpu 0\n"
            "3: attr 0 tid 7 cpu 1\n4: attr 1 tid 7 cpu 1\n"
            "5: attr 0 tid 8 cpu 0\n6: attr 1 tid 8 cpu 0\n"
            "7: attr 0 tid 8 cpu 1\n8: attr 1 tid 8 cpu 1\n");
  ASSERT_EQ(set->rings().size(), 2u);
  EXPECT_EQ(set->rings()[0].cpu, 0);
  EXPECT_EQ(set->rings()[1].cpu, 1);
  EXPECT_EQ(set->rings()[0].memory->view().capacity(), 16u * FakeKernel::kPageSize);
  EXPECT_EQ(set->ring_pages(), 16u);
}

TEST(EventSet, SystemWideOpensEachCpuOnce) {
  FakeKernel kernel;
  EventSetOptions options = TwoByTwo();
  options.attrs.pop_back();
  options.system_wide = true;
  const auto set = MakeSet(kernel, options);
  EXPECT_EQ(kernel.Describe(),
            "id 1: tid -1 config 10 disabled owns the ring of cpu 0\n"
            "id 2: tid -1 config 10 disabled owns the ring of cpu 1\n");
  EXPECT_EQ(set->rings().size(), 2u);
}

TEST(EventSet, EnablesAndDisablesOneAttrOfAllThreads) {
  FakeKernel kernel;
  EventSetOptions options = TwoByTwo();
  options.cpus = {3};
  const auto set = MakeSet(kernel, options);
  ASSERT_TRUE(set->AddThread(7).ok());
  ASSERT_TRUE(set->AddThread(8).ok());
  EXPECT_TRUE(set->Enable(1).ok());
  EXPECT_EQ(kernel.Describe(),
            "id 1: tid 7 config 10 disabled owns the ring of cpu 3\n"
            "id 2: tid 7 config 20 enabled -> ring of cpu 3\n"
            "id 3: tid 8 config 10 disabled -> ring of cpu 3\n"
            "id 4: tid 8 config 20 enabled -> ring of cpu 3\n");
  EXPECT_TRUE(set->Enable(0).ok());
  EXPECT_TRUE(set->Disable(1).ok());
  EXPECT_EQ(kernel.Describe(),
            "id 1: tid 7 config 10 enabled owns the ring of cpu 3\n"
            "id 2: tid 7 config 20 disabled -> ring of cpu 3\n"
            "id 3: tid 8 config 10 enabled -> ring of cpu 3\n"
            "id 4: tid 8 config 20 disabled -> ring of cpu 3\n");
}

TEST(EventSet, OneEventThatCannotBeEnabledDoesNotKeepTheOthersOff) {
  FakeKernel kernel;
  const auto set = MakeSet(kernel, TwoByTwo());
  ASSERT_TRUE(set->AddThread(7).ok());
  kernel.FailCall(Call::kEnable, 1, EIO);
  EXPECT_EQ(ErrnoOf(set->Enable(0)), EIO);
  EXPECT_EQ(kernel.calls(Call::kEnable), 2u);
  kernel.FailCall(Call::kDisable, 2, EIO);
  EXPECT_EQ(ErrnoOf(set->Disable(0)), EIO);
}

TEST(EventSet, ClosesEverythingWhenItGoes) {
  FakeKernel kernel;
  auto set = MakeSet(kernel, TwoByTwo());
  ASSERT_TRUE(set->AddThread(7).ok());
  EXPECT_EQ(kernel.open_events(), 4u);
  set.reset();
  EXPECT_EQ(kernel.open_events(), 0u);
  EXPECT_FALSE(kernel.has_ring(0));
}

// ---- errors

TEST(EventSet, AnyErrnoAtAnyCallLeavesTheSetAsItWas) {
  // The number of calls for the first and for a second thread, with 2 CPUs and 2 attrs.
  const struct {
    Call call;
    uint64_t calls_first;
    uint64_t calls_second;
  } kinds[] = {{Call::kOpenEvent, 4, 4},
               {Call::kMapRing, 2, 0},
               {Call::kSetOutput, 2, 4},
               {Call::kEventId, 4, 4}};
  for (const auto& kind : kinds) {
    for (int error : {EACCES, EPERM, ESRCH, EINVAL, ENOMEM, EBUSY, EIO, ENOSYS}) {
      for (uint64_t nth = 1; nth <= kind.calls_first; ++nth) {
        FakeKernel kernel;
        const auto set = MakeSet(kernel, TwoByTwo());
        kernel.FailCall(kind.call, nth, error);
        EXPECT_EQ(ErrnoOf(set->AddThread(7)), error);
        EXPECT_EQ(kernel.open_events(), 0u);
        EXPECT_TRUE(set->events().empty());
        EXPECT_TRUE(set->rings().empty());
        EXPECT_FALSE(kernel.has_ring(0));
        EXPECT_TRUE(set->AddThread(7).ok());  // a second try works
        EXPECT_EQ(kernel.open_events(), 4u);
      }
      for (uint64_t nth = 1; nth <= kind.calls_second; ++nth) {
        FakeKernel kernel;
        const auto set = MakeSet(kernel, TwoByTwo());
        ASSERT_TRUE(set->AddThread(7).ok());
        const std::string before = kernel.Describe() + Ids(*set);
        kernel.FailCall(kind.call, nth, error);
        EXPECT_EQ(ErrnoOf(set->AddThread(8)), error);
        EXPECT_EQ(kernel.Describe() + Ids(*set), before);
        EXPECT_EQ(set->rings().size(), 2u);
        EXPECT_TRUE(set->AddThread(8).ok());
        EXPECT_EQ(kernel.open_events(), 8u);
      }
    }
  }
}

TEST(EventSet, AnyErrnoWhileCreatingSystemWideClosesAll) {
  for (Call call : {Call::kOpenEvent, Call::kMapRing, Call::kSetOutput, Call::kEventId}) {
    FakeKernel kernel;
    kernel.FailCall(call, 2, EIO);
    EventSetOptions options = TwoByTwo();
    options.system_wide = true;
    EXPECT_EQ(ErrnoOf(EventSet::Create(kernel, options).status()), EIO);
    EXPECT_EQ(kernel.open_events(), 0u);
  }
}

TEST(EventSet, ThreadThatIsGoneIsNotFoundAndTheNextOwnsTheRings) {
  FakeKernel kernel;
  const auto set = MakeSet(kernel, TwoByTwo());
  kernel.SetThreadGone(7);
  EXPECT_EQ(set->AddThread(7).code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(set->AddThread(8).ok());
  EXPECT_EQ(set->rings().size(), 2u);
  EXPECT_EQ(kernel.open_events(), 4u);
}

TEST(EventSet, LeavesOutCpusThatAreOffline) {
  FakeKernel kernel;
  kernel.SetOffline(0);
  const auto set = MakeSet(kernel, TwoByTwo());
  ASSERT_TRUE(set->AddThread(7).ok());
  EXPECT_EQ(kernel.Describe(),
            "id 1: tid 7 config 10 disabled owns the ring of cpu 1\n"
            "id 2: tid 7 config 20 disabled -> ring of cpu 1\n");
  EXPECT_EQ(set->offline_cpus(), std::vector<int>{0});

  // Once the CPU is online again, the next thread creates its ring.
  kernel.SetOffline(0, false);
  ASSERT_TRUE(set->AddThread(8).ok());
  EXPECT_EQ(kernel.Describe(),
            "id 1: tid 7 config 10 disabled owns the ring of cpu 1\n"
            "id 2: tid 7 config 20 disabled -> ring of cpu 1\n"
            "id 3: tid 8 config 10 disabled owns the ring of cpu 0\n"
            "id 4: tid 8 config 20 disabled -> ring of cpu 0\n"
            "id 5: tid 8 config 10 disabled -> ring of cpu 1\n"
            "id 6: tid 8 config 20 disabled -> ring of cpu 1\n");
  ASSERT_EQ(set->rings().size(), 2u);
  EXPECT_EQ(set->rings()[0].cpu, 1);
  EXPECT_EQ(set->rings()[1].cpu, 0);
}

TEST(EventSet, CpuThatGoesOfflineBetweenTwoAttrsIsLeftOutWhole) {
  FakeKernel kernel;
  const auto set = MakeSet(kernel, TwoByTwo());
  kernel.FailCall(Call::kOpenEvent, 2, ENODEV);
  ASSERT_TRUE(set->AddThread(7).ok());
  EXPECT_EQ(Ids(*set), "2: attr 0 tid 7 cpu 1\n3: attr 1 tid 7 cpu 1\n");
  EXPECT_EQ(kernel.open_events(), 2u);
}

TEST(EventSet, FailsWhenEveryCpuIsOffline) {
  FakeKernel kernel;
  kernel.SetOffline(0);
  kernel.SetOffline(1);
  const auto set = MakeSet(kernel, TwoByTwo());
  EXPECT_EQ(ErrnoOf(set->AddThread(7)), ENODEV);
}

TEST(EventSet, RaisesTheLimitOnDescriptorsForAllThatAreToCome) {
  FakeKernel kernel;
  kernel.SetFileLimit(10, 10000);
  EventSetOptions options = TwoByTwo();
  options.expected_threads = 200;
  const auto set = MakeSet(kernel, options);
  for (pid_t tid = 1; tid <= 20; ++tid) ASSERT_TRUE(set->AddThread(tid).ok());
  EXPECT_EQ(kernel.open_events(), 80u);
  // 10 descriptors are in use, 792 are for the events of the 198 other threads, and 256 are to
  // spare.
  EXPECT_EQ(kernel.FileLimit(), 10u + 792u + 256u);
  EXPECT_EQ(kernel.calls(Call::kOpenEvent), 81u);  // one call was refused
}

TEST(EventSet, SaysHowManyDescriptorsAreMissing) {
  FakeKernel kernel;
  kernel.SetFileLimit(10, 10);
  EventSetOptions options = TwoByTwo();
  options.expected_threads = 200;
  const auto set = MakeSet(kernel, options);
  ASSERT_TRUE(set->AddThread(1).ok());
  ASSERT_TRUE(set->AddThread(2).ok());
  const absl::Status status = set->AddThread(3);
  EXPECT_EQ(status.message(),
            "200 threads x 2 CPUs x 2 events need 800 file descriptors and the limit is 10: "
            "Too many open files; raise it with `ulimit -n 1058`");
  EXPECT_EQ(ErrnoOf(status), EMFILE);
  EXPECT_EQ(kernel.open_events(), 8u);
}

TEST(EventSet, CountsTheThreadsItselfWhenTheirNumberIsNotForetold) {
  FakeKernel kernel;
  kernel.SetFileLimit(3, 3);
  const auto set = MakeSet(kernel, TwoByTwo());
  EXPECT_EQ(set->AddThread(1).message(),
            "1 thread x 2 CPUs x 2 events need 4 file descriptors and the limit is 3: "
            "Too many open files; raise it with `ulimit -n 263`");
}

TEST(EventSet, SaysWhichLimitRefusesTheRing) {
  FakeKernel kernel;
  kernel.SetLargestRing(8);
  kernel.SetRingMemoryLimitKib(36);
  const auto set = MakeSet(kernel, TwoByTwo());
  const absl::Status status = set->AddThread(7);
  EXPECT_EQ(status.message(),
            "mapping a ring of 68 KiB a CPU: Operation not permitted; take smaller rings with "
            "`-m SIZE`, or raise the limit with `sysctl kernel.perf_event_mlock_kb=68` (now 36)");
  EXPECT_EQ(ErrnoOf(status), EPERM);
}

TEST(EventSet, ARingRefusedBecauseOfOtherRecordingsNeedsTheirRoomToo) {
  FakeKernel kernel;
  kernel.SetLargestRing(8);
  kernel.SetRingMemoryLimitKib(516);
  const auto set = MakeSet(kernel, TwoByTwo());
  EXPECT_EQ(set->AddThread(7).message(),
            "mapping a ring of 68 KiB a CPU: Operation not permitted; take smaller rings with "
            "`-m SIZE`, or raise the limit with `sysctl kernel.perf_event_mlock_kb=584` (now 516)");
}

TEST(EventSet, HalvesTheRingsDownToWhatTheLimitsAllow) {
  FakeKernel kernel;
  kernel.SetLargestRing(32);
  EventSetOptions options = TwoByTwo();
  options.ring_pages = 128;
  options.min_ring_pages = 8;
  const auto set = MakeSet(kernel, options);
  ASSERT_TRUE(set->AddThread(7).ok());
  EXPECT_EQ(set->ring_pages(), 32u);
  EXPECT_EQ(set->rings()[0].memory->view().capacity(), 32u * FakeKernel::kPageSize);
  EXPECT_EQ(set->rings()[1].memory->view().capacity(), 32u * FakeKernel::kPageSize);
}

TEST(EventSet, HalvesAllRingsWhenALaterOneDoesNotFit) {
  FakeKernel kernel;
  EventSetOptions options = TwoByTwo();
  options.min_ring_pages = 8;
  const auto set = MakeSet(kernel, options);
  kernel.FailCall(Call::kMapRing, 2, EPERM);
  ASSERT_TRUE(set->AddThread(7).ok());
  EXPECT_EQ(set->ring_pages(), 8u);
  EXPECT_EQ(set->rings()[0].memory->view().capacity(), 8u * FakeKernel::kPageSize);
  EXPECT_EQ(set->rings()[1].memory->view().capacity(), 8u * FakeKernel::kPageSize);
}

TEST(EventSet, DoesNotHalveBelowTheLeast) {
  FakeKernel kernel;
  kernel.SetLargestRing(4);
  EventSetOptions options = TwoByTwo();
  options.min_ring_pages = 8;
  const auto set = MakeSet(kernel, options);
  EXPECT_EQ(ErrnoOf(set->AddThread(7)), EPERM);
  EXPECT_EQ(kernel.calls(Call::kMapRing), 2u);
  EXPECT_EQ(kernel.open_events(), 0u);
}

// ---- descriptors to watch

TEST(EventSet, OffersEachThreadsEventOfTheRingsCpuOnce) {
  FakeKernel kernel;
  const auto set = MakeSet(kernel, TwoByTwo());
  for (pid_t tid : {7, 8, 9}) ASSERT_TRUE(set->AddThread(tid).ok());
  auto id_of = [&](int fd) { return kernel.EventId(fd).value_or(0); };
  EXPECT_EQ(id_of(set->rings()[1].fd), 3u);
  EXPECT_EQ(id_of(set->NextWatch(1)), 7u);
  EXPECT_EQ(id_of(set->NextWatch(1)), 11u);
  EXPECT_EQ(set->NextWatch(1), -1);
  EXPECT_EQ(id_of(set->NextWatch(0)), 5u);
  ASSERT_TRUE(set->AddThread(10).ok());
  EXPECT_EQ(id_of(set->NextWatch(1)), 15u);
  EXPECT_EQ(set->NextWatch(1), -1);
}

TEST(EventSet, ThreadsMayBeAddedAfterTheOwnerHasExited) {
  FakeKernel kernel;
  const auto set = MakeSet(kernel, TwoByTwo());
  ASSERT_TRUE(set->AddThread(7).ok());
  kernel.HangUp(7);
  ASSERT_TRUE(set->AddThread(8).ok());
  EXPECT_TRUE(kernel.Publish(0, MakeRecord(9, size_t{8})));
  EXPECT_EQ(set->rings()[0].memory->view().Peek().size(), 16u);
}

TEST(EventSet, GroupsAreThoseOfOneThreadOnOneCpu) {
  FakeKernel kernel;
  EventSetOptions options = TwoByTwo();
  options.attrs.push_back(Attr(30));
  options.leaders = {0, 1, 1};
  const auto set = MakeSet(kernel, options);
  ASSERT_TRUE(set->AddThread(7).ok());
  EXPECT_EQ(kernel.Describe(),
            "id 1: tid 7 config 10 disabled owns the ring of cpu 0\n"
            "id 2: tid 7 config 20 disabled -> ring of cpu 0\n"
            "id 3: tid 7 config 30 disabled in the group of 2 -> ring of cpu 0\n"
            "id 4: tid 7 config 10 disabled owns the ring of cpu 1\n"
            "id 5: tid 7 config 20 disabled -> ring of cpu 1\n"
            "id 6: tid 7 config 30 disabled in the group of 5 -> ring of cpu 1\n");
}

TEST(EventSet, AnEventOfSomeCpusIsOpenedThereAlone) {
  FakeKernel kernel;
  EventSetOptions options = TwoByTwo();
  options.attr_cpus = {{}, {1}};
  const auto set = MakeSet(kernel, options);
  ASSERT_TRUE(set->AddThread(7).ok());
  EXPECT_EQ(Ids(*set), "1: attr 0 tid 7 cpu 0\n2: attr 0 tid 7 cpu 1\n3: attr 1 tid 7 cpu 1\n");
}

TEST(EventSet, FiltersArePutOnTheirEvents) {
  FakeKernel kernel;
  EventSetOptions options = TwoByTwo();
  options.cpus = {0};
  options.filters = {"", "id == 1"};
  const auto set = MakeSet(kernel, options);
  ASSERT_TRUE(set->AddThread(7).ok());
  EXPECT_EQ(kernel.Describe(),
            "id 1: tid 7 config 10 disabled owns the ring of cpu 0\n"
            "id 2: tid 7 config 20 disabled if id == 1 -> ring of cpu 0\n");
}

}  // namespace
}  // namespace profiler::ringbuf
