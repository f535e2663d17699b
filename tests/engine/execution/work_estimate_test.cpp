#include "engine/execution/work_estimate.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace kernelskill::engine {
namespace {

/// Fails at once, as a fast machine does that has used up its accesses.
class FailingExecutor final : public Executor {
public:
    explicit FailingExecutor(std::string why) : why_(std::move(why)) {}
    [[nodiscard]] std::string_view name() const override { return "failing"; }
    [[nodiscard]] Result<std::shared_ptr<const Image>> build(KernelRef, const LaunchSpec&,
                                                             std::stop_token) override {
        return std::make_shared<const Image>();
    }
    [[nodiscard]] Result<RunResult> run(const Image&, const Job&, std::stop_token) override {
        return std::unexpected(Error{ErrorKind::Failed, why_, "", ""});
    }

private:
    std::string why_;
};

TEST(WorkEstimate, IsInfiniteWhereAFewBlocksUseUpTheirAccesses) {
    FailingExecutor endless("a loop did not end, cut off after 150000000 memory accesses");
    EXPECT_EQ(workOf(endless, Image{}, {}, {}), std::numeric_limits<double>::infinity());
    FailingExecutor broken("thread (0,0,0) divided an integer by zero");
    EXPECT_FALSE(workOf(broken, Image{}, {}, {}));
}

} // namespace
} // namespace kernelskill::engine
