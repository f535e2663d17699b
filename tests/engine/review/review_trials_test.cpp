/// Which images a review runs: those of the instance that a launch asks for, if there are any.
#include "tests/engine/review/review_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

const std::string roots = R"(
template <int W>
__global__ void roots(const float* in, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < 64; ++j)
        sum += W * sqrtf(fabsf(in[(i + j) % n]));
    out[i] = sum;
}
)";

/// Runs on the emulator, except for what it is told to refuse. Notes runs of an image that it did
/// not build, or that it built for another instance.
class PickyExecutor final : public Executor {
public:
    explicit PickyExecutor(Executor& real) : real_(real) {}

    [[nodiscard]] std::string_view name() const override { return "picky"; }
    [[nodiscard]] Result<std::shared_ptr<const Image>>
    build(KernelRef kernel, const LaunchSpec& launch, std::stop_token wanted) override {
        if (launch.templateArguments == refusedInstance)
            return std::unexpected(Error{ErrorKind::Failed, "this instance is refused", {}, {}});
        if (launch.templateArguments == lastInstance)
            stop.request_stop();
        auto image = real_.build(kernel, launch, std::move(wanted));
        const std::scoped_lock lock(mutex_);
        if (image)
            built_[image->get()] = {*image, launch.templateArguments};
        return image;
    }
    [[nodiscard]] Result<RunResult> run(const Image& image, const Job& job,
                                        std::stop_token wanted) override {
        {
            const std::scoped_lock lock(mutex_);
            const auto built = built_.find(&image);
            if (built == built_.end() || built->second.second != job.launch.templateArguments) {
                ++strangeRuns;
                return std::unexpected(Error{ErrorKind::Failed, "whose image is it?", {}, {}});
            }
        }
        // Only the original's run of a probe has so little time.
        if (refusesProbes && job.limits.time < std::chrono::seconds(1))
            return std::unexpected(Error{ErrorKind::Failed, "probes are refused", {}, {}});
        return real_.run(image, job, std::move(wanted));
    }

    std::vector<std::string> refusedInstance{"none"};
    std::vector<std::string> lastInstance{"none"}; ///< Building it requests a stop.
    bool refusesProbes = false;
    int strangeRuns = 0;
    std::stop_source stop;

private:
    using Built = std::pair<std::shared_ptr<const Image>, std::vector<std::string>>;

    Executor& real_;
    std::mutex mutex_;
    std::map<const Image*, Built> built_;
};

class ReviewTrials : public kernelskill::testing::ReviewFixture {
protected:
    /// Reviews another order of the sum. `launches` are statements of the host.
    [[nodiscard]] Result<Verdict> reviewOf(const std::string& launches) {
        const std::string text =
            roots + "void run(const float* f, float* g) {\n" + launches + "}\n";
        const ProgramSource source = program(text);
        const std::string_view from = "i + j";
        const auto begin = static_cast<std::uint32_t>(text.find(from));
        const analysis::Span span{begin, begin + static_cast<std::uint32_t>(from.size())};
        return Reviewer(&picky_, bench_.toolchain)
            .review({source, source.model->kernels.at(0)}, {{source.file, {{span, "i + 63 - j"}}}},
                    skills::Numerics::Reassociates, picky_.stop.get_token(), {},
                    {.seed = testSeed()});
    }

    PickyExecutor picky_{*executor_};
};

TEST_F(ReviewTrials, LeaveOutAnInstanceWhoseOriginalDoesNotCompile) {
    picky_.refusedInstance = {"3"};
    picky_.refusesProbes = true;
    const auto verdict = reviewOf("roots<2><<<8, 128>>>(f, g, 1024);\n"
                                  "roots<3><<<8, 128>>>(f, g, 1024);\n");
    ASSERT_TRUE(verdict) << verdict.error().describe();
    EXPECT_EQ(picky_.strangeRuns, 0);
    EXPECT_TRUE(isAccepted(*verdict)) << report(*verdict);
    EXPECT_THAT(verdict->summary, HasSubstr("was left out: this instance is refused"));
}

TEST_F(ReviewTrials, RunNothingWhereAStopKeptAnInstanceFromBeingBuilt) {
    picky_.lastInstance = {"3"};
    picky_.refusesProbes = true;
    const auto verdict = reviewOf("roots<2><<<8, 128>>>(f, g, 1024);\n"
                                  "roots<3><<<8, 128>>>(f, g, 1024);\n");
    EXPECT_EQ(picky_.strangeRuns, 0);
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.error().kind, ErrorKind::Cancelled);
}

TEST_F(ReviewTrials, BuildAnInstanceAgainForALaterLaunch) {
    const auto verdict = reviewOf("roots<2><<<8, 128>>>(f, g, 1024);\n"
                                  "roots<3><<<8, 128>>>(f, g, 1024);\n"
                                  "roots<2><<<16, 64>>>(f, g, 1024);\n");
    ASSERT_TRUE(verdict) << verdict.error().describe();
    EXPECT_EQ(picky_.strangeRuns, 0);
    EXPECT_TRUE(isAccepted(*verdict)) << report(*verdict);
}

} // namespace
} // namespace kernelskill::engine
