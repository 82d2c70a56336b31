#include "src/fleet/agent/workload_names.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace profiler::agent {
namespace {

const std::string kId = "6f2c0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7";
const std::string kOther = "ffff0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7";
constexpr char kUid[] = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
constexpr char kEscapedUid[] = "0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9";

// Returns "SERVICE|CONTAINER|POD", with "ID" for kId.
std::string Text(const WorkloadNames& names) {
  const std::string container = names.container == kId ? "ID" : names.container;
  return absl::StrCat(names.service, "|", container, "|", names.pod);
}
std::string Of(const std::string& path) { return Text(NamesOfGroup(path)); }

TEST(NamesOfGroup, AUnitOfSystemdIsAService) {
  EXPECT_EQ(Of("/system.slice/nginx.service"), "nginx||");
  EXPECT_EQ(Of("/system.slice/system-postgresql.slice/postgresql@15-main.service"),
            "postgresql@15-main||");
  EXPECT_EQ(Of("/system.slice/web\\x2dfront.service"), "web-front||");
  EXPECT_EQ(Of("/system.slice/app.service/workers"), "app||");
  EXPECT_EQ(Of("/init.scope"), "init||");
}

TEST(NamesOfGroup, WhatHasNoNameThatStaysIsNoService) {
  EXPECT_EQ(Of("/"), "||");
  EXPECT_EQ(Of(""), "||");
  EXPECT_EQ(Of("/system.slice/run-r8d2a.scope"), "||");
  EXPECT_EQ(Of("/user.slice/user-1000.slice/session-3.scope"), "||");
  EXPECT_EQ(Of("/user.slice/user-1000.slice/user@1000.service/app.slice/gnome.service"), "||");
}

TEST(NamesOfGroup, RuntimesWriteTheContainersIdInManyWays) {
  for (const char* path :
       {"/system.slice/docker-ID.scope", "/docker/ID", "/machine.slice/libpod-ID.scope",
        "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope",
        "/system.slice/containerd.service/kubepods-besteffort.slice:cri-containerd:ID",
        "/ecs/0123abcd/ID", "/docker/ID/init.d", "/machine.slice/libpod-ID.scope/container"}) {
    EXPECT_EQ(Of(absl::StrReplaceAll(path, {{"ID", kId}})), "|ID|") << path;
  }
}

TEST(NamesOfGroup, WhatOnlyLooksLikeAnIdIsNone) {
  EXPECT_EQ(Of("/docker/buildx"), "||");
  EXPECT_EQ(Of("/docker/" + kId.substr(0, 12)), "||");
  EXPECT_EQ(Of("/machine.slice/libpod-conmon-" + kId + ".scope"), "||");
}

TEST(NamesOfGroup, KubernetesNamesThePodToo) {
  EXPECT_EQ(Of(absl::StrCat("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod",
                            kEscapedUid, ".slice/cri-containerd-", kId, ".scope")),
            absl::StrCat("|ID|", kUid));
  EXPECT_EQ(Of(absl::StrCat("/kubepods/besteffort/pod", kUid, "/", kId)),
            absl::StrCat("|ID|", kUid));
  EXPECT_EQ(Of(absl::StrCat("/kubepods.slice/kubepods-pod", kEscapedUid, ".slice/crio-", kId,
                            ".scope/container")),
            absl::StrCat("|ID|", kUid));
  EXPECT_EQ(Of("/system.slice/pod-cleaner.service"), "pod-cleaner||");
}

TEST(NamesOfGroup, OfContainersInContainersTheInnermostCounts) {
  EXPECT_EQ(Of("/docker/" + kOther + "/docker/" + kId), "|ID|");
  EXPECT_EQ(Of(absl::StrCat("/docker/", kOther, "/kubelet/kubepods/pod", kUid, "/", kId)),
            absl::StrCat("|ID|", kUid));
}

TEST(NamesOfGroup, ASystemInAContainerHasServices) {
  EXPECT_EQ(Of("/lxc.payload.web/system.slice/nginx.service"), "nginx|web|");
  EXPECT_EQ(Of("/lxc/web/system.slice/nginx.service"), "nginx|web|");
  EXPECT_EQ(Of("/machine.slice/machine-box.scope/payload/system.slice/cron.service"), "cron|box|");
  EXPECT_EQ(Of("/docker/" + kId + "/system.slice/nginx.service"), "nginx|ID|");
}

TEST(NamesOfGroups, TheHierarchyThatKnowsMostCounts) {
  EXPECT_EQ(Text(NamesOfGroups("0::/system.slice/nginx.service\n")), "nginx||");
  EXPECT_EQ(Text(NamesOfGroups("12:cpuset:/\n4:memory:/docker/" + kId +
                               "\n1:name=systemd:/system.slice/containerd.service\n0::/\n")),
            "|ID|");
  EXPECT_EQ(Text(NamesOfGroups("3:cpu,cpuacct:/\n1:name=systemd:/system.slice/cron.service\n0::/")),
            "cron||");
  EXPECT_EQ(Text(NamesOfGroups("")), "||");
  EXPECT_EQ(Text(NamesOfGroups("nonsense\n::\n\n:::::/docker")), "||");
}

}  // namespace
}  // namespace profiler::agent
