/// NVIDIA's disassemblers, from the toolkit or installed separately.
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
    bool tellsLines = false;       ///< Whether it prints line numbers; nvdisasm does.
};

/// Finds nvdisasm in the toolkit or on PATH, else cuobjdump in either. Missing, with a remedy, if
/// there is none.
[[nodiscard]] Result<Disassembler>
findDisassembler(const std::optional<analysis::CudaToolkit>& toolkit);

/// The disassembler's output for `cubin`, for readSass(). Runs in a process of its own with limits
/// on memory, time and output.
[[nodiscard]] Result<std::string> disassemble(const Disassembler& disassembler,
                                              const std::string& cubin,
                                              std::chrono::milliseconds time, std::stop_token stop);

} // namespace kernelskill::engine
