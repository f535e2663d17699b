/// How images are compiled and cached.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace kernelskill::engine {

struct ImageOptions {
    std::filesystem::path hostCompiler;   ///< As findHostCompiler gives it.
    std::filesystem::path preludeInclude; ///< analysis::Toolchain::preludeInclude
    std::filesystem::path
        cacheDirectory; ///< Empty: $XDG_CACHE_HOME/kernelskill, else ~/.cache/kernelskill.
    std::chrono::milliseconds compileTime{60'000};
    std::uint64_t cacheBytes = 512ull << 20; ///< Least recently used images beyond it are removed.
    bool traceBranches = true;
};

} // namespace kernelskill::engine
