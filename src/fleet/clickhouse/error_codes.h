// The error codes of ClickHouse that this program handles. They do not change between versions.
// Source: the server's table system.errors.

#pragma once

namespace profiler::fleet::clickhouse {

enum ErrorCode : int {
  kNoSuchColumn = 16,
  kCannotParse = 27,
  kCannotReadAllData = 33,
  kUnknownIdentifier = 47,
  kUnknownTable = 60,
  kUnknownDatabase = 81,
  kTimeoutExceeded = 159,
  kReadOnly = 164,
  kUnknownUser = 192,
  kWrongPassword = 193,
  kPasswordRequired = 194,
  kTooManySimultaneousQueries = 202,
  kNoFreeConnection = 203,
  kSocketTimeout = 209,
  kNetworkError = 210,
  kQueryWithSameIdIsRunning = 216,
  kMemoryLimitExceeded = 241,
  kTableIsReadOnly = 242,
  kNotEnoughSpace = 243,
  kTooManyParts = 252,
  kAllConnectionTriesFailed = 279,
  kNoActiveReplicas = 285,
  kAllReplicasAreStale = 369,
  kAccessDenied = 497,
  kAuthenticationFailed = 516,
};

}  // namespace profiler::fleet::clickhouse
