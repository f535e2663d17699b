/// Compiles a unit with nvcc. It preprocesses with the host compiler, so both must be there. Its
/// numbers are those of the user's build.
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

/// nullopt if the toolkit has no nvcc.
[[nodiscard]] std::optional<std::filesystem::path> findNvcc(const analysis::CudaToolkit& toolkit);

struct NvccJob {
    std::filesystem::path nvcc;
    int version = 0; ///< The toolkit's version, 13000 for 13.0.
    std::string architecture;
    std::vector<std::string> options; ///< From nvccOptions().
    std::chrono::milliseconds time{0};
    std::vector<std::filesystem::path> includeDirs; ///< What the options name, to be readable.
};

/// Compiles in a folder of its own, behind walls, with limits on memory and time; is killed on a
/// time-out and on `stop`. A unit that does not compile gives a reply. Failed if nvcc cannot be
/// used on this machine.
[[nodiscard]] Result<CompileReply> compileWithNvcc(const NvccJob& job, const DeviceUnit& unit,
                                                   std::stop_token stop);

} // namespace kernelskill::engine
