#include <gtest/gtest.h>

#include "train/internal/device.h"

namespace sibyl::train {
namespace {

GpuFacts working(size_t devices) {
  return {.driver_visible = true,
          .driver_version = "580.65.06",
          .library_present = true,
          .library_error = {},
          .usable = devices};
}

TEST(DeviceChoice, AutoTakesAGpuThatWorks) {
  const auto choice = choose_device("auto", false, working(2));
  ASSERT_TRUE(choice);
  EXPECT_TRUE(choice->cuda);
  EXPECT_EQ(choice->why, "a GPU is visible");
}

TEST(DeviceChoice, AutoTakesTheProcessorWhereThereIsNoGpu) {
  const auto choice = choose_device("auto", false, {});
  ASSERT_TRUE(choice);
  EXPECT_FALSE(choice->cuda);
  EXPECT_EQ(choice->why, "no NVIDIA device on this machine");
}

TEST(DeviceChoice, AutoRefusesAGpuThatCannotBeUsedUnlessFallingBackIsAllowed) {
  GpuFacts facts = working(0);
  auto choice = choose_device("auto", false, facts);
  ASSERT_FALSE(choice);
  EXPECT_EQ(exit_status(choice.error().code), 69);
  EXPECT_NE(choice.error().message.find("driver 580"), std::string::npos);
  facts.library_present = false;
  choice = choose_device("auto", false, facts);
  ASSERT_FALSE(choice);
  EXPECT_NE(choice.error().message.find("libtorch_cuda.so"), std::string::npos);
  choice = choose_device("auto", true, facts);
  ASSERT_TRUE(choice);
  EXPECT_FALSE(choice->cuda);
  EXPECT_NE(choice->warning.find("libtorch_cuda.so"), std::string::npos);
}

TEST(DeviceChoice, CudaWithoutAGpuIsUnavailableEvenIfFallingBackIsAllowed) {
  const auto choice = choose_device("cuda", true, {});
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().code, Code::Unavailable);
  EXPECT_NE(choice.error().message.find("no NVIDIA device"), std::string::npos);
}

TEST(DeviceChoice, NumbersNameADeviceThatIsThere) {
  const auto second = choose_device("cuda:1", false, working(2));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->index, 1U);
  EXPECT_EQ(choose_device("cuda:2", false, working(2)).error().code, Code::Unavailable);
}

TEST(DeviceChoice, OtherWordsAreAConfigurationError) {
  for (const char* wanted :
       {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:99999999999999999999"}) {
    const auto choice = choose_device(wanted, false, working(1));
    ASSERT_FALSE(choice) << wanted;
    EXPECT_EQ(choice.error().code, Code::InvalidConfig) << wanted;
  }
}

TEST(DeviceChoice, CpuIsTakenBesideAGpuWhenAskedFor) {
  const auto choice = choose_device("cpu", false, working(1));
  ASSERT_TRUE(choice);
  EXPECT_FALSE(choice->cuda);
}

}  // namespace
}  // namespace sibyl::train
