/// A kernel as machine code for one GPU architecture.
#pragma once

#include "engine/static_facts/static_facts.h"

namespace kernelskill::engine {

struct DeviceCode {
    StaticFacts facts; ///< Its `symbol` names the kernel in the cubin.
    std::string cubin; ///< ELF with line tables.
    std::string ptx; ///< What the cubin was assembled from; with lines and what was inlined where.
};

/// As staticFacts(), which says what the arguments are, when it is slow and which errors there are.
[[nodiscard]] Result<DeviceCode> deviceCode(KernelRef kernel,
                                            const std::vector<std::string>& templateArguments,
                                            const std::string& architecture,
                                            const StaticFactsOptions& options,
                                            std::stop_token stop);

} // namespace kernelskill::engine
