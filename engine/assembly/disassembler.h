/// NVIDIA's disassemblers, which come with the toolkit or by themselves.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/source/error.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

namespace kernelskill::engine {

struct Disassembler {
    std::filesystem::path program; ///< nvdisasm or cuobjdump.
    bool tellsLines = false;       ///< nvdisasm does.
};

/// nvdisasm of the toolkit, else on the PATH, else cuobjdump of either. Missing, with the remedy,
/// where there is none.
[[nodiscard]] Result<Disassembler>
findDisassembler(const std::optional<analysis::CudaToolkit>& toolkit);

/// What it prints of `cubin`, for readSass(). In a process of its own with limits on memory, time
/// and what it writes.
[[nodiscard]] Result<std::string> disassemble(const Disassembler& disassembler,
                                              const std::string& cubin,
                                              std::chrono::milliseconds time, std::stop_token stop);

} // namespace kernelskill::engine
