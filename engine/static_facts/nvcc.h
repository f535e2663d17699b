/// nvcc, asked what a unit compiles to. It preprocesses with the host compiler, so both have to be
/// there; what it says is what the user's build says.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/source/error.h"
#include "engine/static_facts/compile_job.h"
#include "engine/static_facts/device_unit.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// nullopt when the toolkit has none.
[[nodiscard]] std::optional<std::filesystem::path> findNvcc(const analysis::CudaToolkit& toolkit);

struct NvccJob {
    std::filesystem::path nvcc;
    int version = 0; ///< Of its toolkit, 13000 for 13.0.
    std::string architecture;
    std::vector<std::string> options; ///< As nvccOptions gives them.
    std::chrono::milliseconds time{0};
};

/// In a folder of its own, with limits on memory and time, killed when late or on `stop`. A unit
/// that does not compile is a reply; Failed when nvcc cannot be used here at all.
[[nodiscard]] Result<CompileReply> compileWithNvcc(const NvccJob& job, const DeviceUnit& unit,
                                                   std::stop_token stop);

} // namespace kernelskill::engine
