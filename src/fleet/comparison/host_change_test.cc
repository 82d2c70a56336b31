#include "src/fleet/comparison/host_change.h"

#include "gtest/gtest.h"

namespace profiler::fleet {
namespace {

// Makes hosts with these numbers of samples and scales of 1.
ComparedHosts HostsWith(std::vector<double> before, std::vector<double> after) {
  ComparedHosts hosts;
  hosts.scales.scales = {.before = std::vector<double>(before.size(), 1),
                         .after = std::vector<double>(after.size(), 1)};
  hosts.scales.errors = {.before = std::vector<double>(before.size()),
                         .after = std::vector<double>(after.size())};
  hosts.samples = {std::move(before), std::move(after)};
  return hosts;
}

// Returns a value near `share`. The order of the hosts by value differs from function to function.
double Varied(double share, size_t host, size_t function) {
  return share * (1 + 0.004 * static_cast<double>((host * 7 + function * 5) % 11));
}

// Makes forty functions in which hosts differ by a few percent.
std::vector<OfHosts> FortyFunctions(size_t before, size_t after) {
  std::vector<OfHosts> shares(40);
  for (size_t i = 0; i < shares.size(); ++i) {
    for (size_t host = 0; host < before; ++host) shares[i].before.push_back(Varied(0.02, host, i));
    for (size_t host = 0; host < after; ++host) {
      shares[i].after.push_back(Varied(0.02, before + host, i));
    }
  }
  return shares;
}

std::vector<double> Many(size_t hosts) { return std::vector<double>(hosts, 1e5); }

TEST(HostChangesOf, FindsAChangeOnAllHosts) {
  std::vector<OfHosts> shares = FortyFunctions(4, 4);
  for (double& share : shares[0].after) share += 0.03;
  const auto changes = HostChangesOf(HostsWith(Many(4), Many(4)), shares);
  EXPECT_NEAR(changes[0].difference(), 0.03, 0.002);
  EXPECT_LT(changes[0].chance, 1e-6);
  EXPECT_GT(changes[1].chance, 0.01);
}

TEST(HostChangesOf, FindsAChangeOnAThirdOfThemThatHidesItself) {
  std::vector<OfHosts> shares = FortyFunctions(9, 9);
  for (size_t host = 0; host < 3; ++host) shares[0].after[host] += 0.03;
  EXPECT_LT(HostChangesOf(HostsWith(Many(9), Many(9)), shares)[0].chance, 1e-5);
  // With the groups swapped, the slower hosts are in `before`, and the p-value is the same.
  std::swap(shares[0].before, shares[0].after);
  EXPECT_LT(HostChangesOf(HostsWith(Many(9), Many(9)), shares)[0].chance, 1e-5);
}

TEST(HostChangesOf, OneOddHostIsNoChange) {
  for (const size_t hosts : {3u, 5u, 9u, 15u}) {
    std::vector<OfHosts> shares = FortyFunctions(hosts, hosts);
    shares[0].after[0] += 0.3;
    EXPECT_GT(HostChangesOf(HostsWith(Many(hosts), Many(hosts)), shares)[0].chance, 0.005) << hosts;
  }
}

TEST(HostChangesOf, HostsWithFewSamplesCountForLess) {
  std::vector<double> few = Many(6);
  few[0] = 50;
  std::vector<OfHosts> shares = FortyFunctions(6, 6);
  // The usual share is one sample in fifty; three samples may be noise.
  shares[0].after[0] = 0.06;
  const auto changes = HostChangesOf(HostsWith(Many(6), few), shares);
  EXPECT_LT(changes[0].difference(), 0.002);
  EXPECT_GT(changes[0].chance, 0.05);
}

TEST(HostChangesOf, AFewSamplesOnOneSideAreJudgedByCounts) {
  std::vector<OfHosts> shares = FortyFunctions(5, 5);
  // Two samples on each host after, none before.
  shares[0] = {.before = std::vector<double>(5, 0), .after = std::vector<double>(5, 2e-5)};
  // All ten samples fell on the same side.
  EXPECT_GE(HostChangesOf(HostsWith(Many(5), Many(5)), shares)[0].chance, 2. / 1024);
}

TEST(HostChangesOf, PairsDoNotHaveWhatHostsDifferBy) {
  std::vector<OfHosts> shares = FortyFunctions(6, 6);
  for (size_t host = 0; host < 6; ++host) {
    const double own = 0.01 * static_cast<double>(host);
    shares[0].before[host] = own + 0.02;
    shares[0].after[host] = own + 0.03;
  }
  ComparedHosts hosts = HostsWith(Many(6), Many(6));
  EXPECT_GT(HostChangesOf(hosts, shares)[0].chance, 0.01);
  hosts.are_pairs = true;
  EXPECT_LT(HostChangesOf(hosts, shares)[0].chance, 1e-4);
}

TEST(HostChangesOf, ASinglePairTellsLittle) {
  ComparedHosts hosts = HostsWith(Many(1), Many(1));
  hosts.are_pairs = true;
  std::vector<OfHosts> shares = FortyFunctions(1, 1);
  shares[0].after[0] *= 1.1;
  EXPECT_GT(HostChangesOf(hosts, shares)[0].chance, 0.001);
}

TEST(HostChangesOf, OfNoFunctionsIsNothing) {
  EXPECT_TRUE(HostChangesOf(HostsWith(Many(2), Many(2)), {}).empty());
}

TEST(SettledScalesOf, OneOfFewFunctionsDoesNotMoveThem) {
  // The first of twelve functions takes a quarter more of the whole.
  std::vector<OfHosts> shares(12);
  for (size_t i = 0; i < shares.size(); ++i) {
    for (size_t host = 0; host < 8; ++host) {
      shares[i].before.push_back(Varied(1. / 12, host, i));
      shares[i].after.push_back(Varied(1. / 12, host + 8, i) * 0.75 + (i == 0 ? 0.25 : 0));
    }
  }
  const OfHosts samples = {.before = Many(8), .after = Many(8)};
  const HostScales settled = SettledScalesOf(samples, shares, false);
  double sum = 0;
  for (const double scale : settled.scales.after) sum += scale / 8;
  EXPECT_NEAR(sum, 0.75, 0.005);
}

}  // namespace
}  // namespace profiler::fleet
