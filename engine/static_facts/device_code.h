/// A kernel as machine code for one GPU architecture.
#pragma once

#include "engine/static_facts/static_facts.h"

namespace kernelskill::engine {

struct DeviceCode {
    StaticFacts facts; ///< Its `symbol` is the kernel's name in the cubin.
    std::string cubin; ///< ELF with line tables.
    std::string ptx; ///< The PTX that the cubin was assembled from, with lines and inlined places.
};

/// Compiles as staticFacts() does, with the same arguments, speed and errors.
[[nodiscard]] Result<DeviceCode> deviceCode(KernelRef kernel,
                                            const std::vector<std::string>& templateArguments,
                                            const std::string& architecture,
                                            const StaticFactsOptions& options,
                                            std::stop_token stop);

} // namespace kernelskill::engine
