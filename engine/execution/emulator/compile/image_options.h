/// How images are compiled and cached.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace kernelskill::engine {

struct ImageOptions {
    std::filesystem::path hostCompiler;   ///< From findHostCompiler().
    std::filesystem::path preludeInclude; ///< analysis::Toolchain::preludeInclude
    std::filesystem::path
        cacheDirectory; ///< If empty, $XDG_CACHE_HOME/kernelskill, else ~/.cache/kernelskill.
    std::chrono::milliseconds compileTime{60'000};
    /// Beyond this size the least recently used images are removed.
    std::uint64_t cacheBytes = 512ull << 20;
    bool traceBranches = true;
};

} // namespace kernelskill::engine
