/// Gives both programs of this folder an emulator, programs from files, and reviews side by side.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/source/error.h"
#include "engine/execution/executor.h"
#include "engine/execution/kernel_ref.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kernelskill::testing {

struct ReviewBenchOptions {
    std::filesystem::path worker; ///< The executable that runs kernels.
    std::filesystem::path cache;  ///< The folder of compiled kernels.
    unsigned jobs = 1;            ///< Reviews side by side.

    /// Adds `--worker`, `--cache` and `--jobs` to a command line.
    void addTo(CLI::App& app);
};

struct ReviewBench {
    analysis::Toolchain toolchain; ///< Without a toolkit.
    std::unique_ptr<engine::Executor> executor;
};

/// The cores are divided among the jobs.
[[nodiscard]] Result<ReviewBench> openReviewBench(const ReviewBenchOptions& options);

/// `text` parsed as that of `file`, which need not exist.
[[nodiscard]] Result<engine::ProgramSource> programOf(const std::filesystem::path& file,
                                                      std::string text,
                                                      const analysis::Toolchain& toolchain);

/// Calls `review` with each number below `count`, in that many threads, each on cores of its own.
void reviewSideBySide(unsigned jobs, std::size_t count,
                      const std::function<void(std::size_t)>& review);

/// The median and the 90th percentile, as a sentence; empty for no verdict.
[[nodiscard]] std::string timeOfVerdicts(std::vector<double> seconds);

} // namespace kernelskill::testing
