/// A kernel to diagnose, made by hand.
#pragma once

#include "engine/diagnosis/bottleneck.h"

#include <optional>
#include <string>
#include <utility>

namespace kernelskill::testing {

inline const engine::Gpu& builtinGpu(const char* name) {
    return *engine::gpuNamed(*engine::builtinGpus(), name);
}

/// A kernel with one access of 4 bytes at the start of line 2 of `text`.
struct Subject {
    analysis::KernelModel kernel;
    analysis::Features features;
    analysis::SourceText text{"// one\n// two\nx[i];\n"};

    Subject() {
        kernel.file = "a.cu";
        kernel.launches.emplace_back(); // The host's, not one of many that device code makes.
        analysis::Expr expr;
        expr.span = {14, 18};
        kernel.body.exprs.push_back(expr);
        analysis::MemoryAccess access;
        access.expression = 0;
        access.width = 4;
        kernel.accesses.push_back(access);
    }
    [[nodiscard]] engine::Bottleneck diagnosed(const engine::Profile* profile = nullptr,
                                               const engine::StaticFacts* facts = nullptr,
                                               const char* gpu = "H200") const {
        return engine::diagnose({.kernel = kernel,
                                 .features = features,
                                 .gpu = builtinGpu(gpu),
                                 .profile = profile,
                                 .facts = facts,
                                 .source = &text});
    }
};

/// A launch of 4096 blocks with 256 threads. `line` gives the metrics of line 2, the only line.
inline engine::Profile profileWith(engine::Metrics line) {
    engine::Profile profile;
    profile.executor = "emulator";
    profile.launch.grid = {4096, 1, 1};
    profile.launch.block = {256, 1, 1};
    profile.launch.origin = engine::LaunchOrigin::Evaluated;
    profile.metrics = line;
    profile.lines.push_back({"a.cu", 2, std::move(line)});
    return profile;
}

} // namespace kernelskill::testing
