/// Where the text launches a kernel.
#pragma once

#include "engine/inputs/program_text.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// `kernel<T><<<grid, block, shared>>>(arguments)`, or the same through `cudaLaunchKernel`, as
/// token ranges of place.file.
struct SiteText {
    using Range = std::pair<std::size_t, std::size_t>;
    TextPlace place;        ///< The kernel's name.
    std::uint32_t line = 0; ///< One-based.
    std::vector<Range> templateArguments;
    std::vector<Range> configuration; ///< At least grid and block.
    std::vector<Range> arguments;     ///< An empty range where the text does not show the argument.
    const analysis::LaunchSite* site =
        nullptr; ///< The launch in the analysis's model; nullptr when it has none.
    /// The call of place.function that passes the kernel to it; other calls pass other kernels.
    std::optional<TextPlace> call;
};

/// Every launch of `kernel` in `program`, the text of `file`, in the order of the text. Besides
/// `<<<>>>`: cudaLaunchKernel and cudaLaunchCooperativeKernel with an array of pointers to
/// arguments, and cudaLaunchKernelEx with a configuration that the same function fills in. Launches
/// through a variable or a parameter that holds the kernel come last.
[[nodiscard]] std::vector<SiteText> findLaunchSites(const ProgramText& program,
                                                    const analysis::FileModel& file,
                                                    const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
