#include "src/views/browser/view_maker.h"

#include <future>
#include <optional>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace profiler::browser {
namespace {

// A wish whose view is made once it may be; `began` says when the second thread begins with it.
struct Example {
  std::promise<void> began, may_end;

  ViewMaker::Wish Wish(const std::string& key) {
    return {.key = key, .make = [this, key] {
              began.set_value();
              may_end.get_future().wait();
              return View{.key = key, .symbol_part = "of " + key, .tables = {}, .table = nullptr};
            }};
  }
};

// Wishes two views. Returns when `a` is made and `b` is being made.
void MakeFirst(ViewMaker& maker, Example& a, Example& b) {
  maker.Want({}, {a.Wish("a"), b.Wish("b")});
  a.may_end.set_value();
  b.began.get_future().wait();
}

std::string TextOf(const std::optional<View>& view) { return view ? view->symbol_part : "none"; }

TEST(ViewMakerTest, WaitsForTheViewThatIsBeingMade) {
  Example a;
  ViewMaker maker;
  maker.Want({}, {a.Wish("a")});
  a.began.get_future().wait();
  std::thread ending([&] { a.may_end.set_value(); });
  EXPECT_EQ(TextOf(maker.Take("a")), "of a");
  EXPECT_EQ(TextOf(maker.Take("a")), "none");
  ending.join();
}

TEST(ViewMakerTest, DoesNotWaitForAViewThatWasNotBegun) {
  Example a, b;
  ViewMaker maker;
  maker.Want({}, {a.Wish("a"), b.Wish("b")});
  a.began.get_future().wait();
  EXPECT_EQ(TextOf(maker.Take("b")), "none");
  a.may_end.set_value();
  EXPECT_EQ(TextOf(maker.Take("a")), "of a");
}

TEST(ViewMakerTest, DropsViewsThatNobodyWishesAnyMore) {
  Example a, b;
  ViewMaker maker;
  MakeFirst(maker, a, b);
  maker.Want({}, {});
  b.may_end.set_value();
  EXPECT_EQ(TextOf(maker.Take("a")), "none");
  EXPECT_EQ(TextOf(maker.Take("b")), "none");
}

TEST(ViewMakerTest, KeepsViewsThatAreWishedAgain) {
  Example a, b;
  ViewMaker maker;
  MakeFirst(maker, a, b);
  maker.Want({}, {b.Wish("b"), a.Wish("a")});
  b.may_end.set_value();
  EXPECT_EQ(TextOf(maker.Take("a")), "of a");
  EXPECT_EQ(TextOf(maker.Take("b")), "of b");
}

TEST(ViewMakerTest, RepeatsAChoreBeforeItMakesViews) {
  Example a;
  int left = 3;
  ViewMaker maker;
  maker.Want([&] { return --left > 0; }, {a.Wish("a")});
  a.began.get_future().wait();
  EXPECT_EQ(left, 0);
  a.may_end.set_value();
}

}  // namespace
}  // namespace profiler::browser
