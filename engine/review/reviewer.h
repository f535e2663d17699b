/// Reviewer: edits in, verdict out. The only way an edit becomes acceptable.
#pragma once

#include "analysis/source/text_edit.h"
#include "engine/execution/executor.h"
#include "engine/execution/gpu/gpu_executor.h"
#include "engine/verdict/verdict.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

namespace kernelskill::engine {

/// Called with a short phrase ("running seed 2 of 3, n=1023") and a fraction in [0, 1]. May be
/// empty.
using ProgressSink = std::function<void(std::string_view, double)>;

struct ReviewOptions {
    bool measure = true; ///< Where there is a GPU; else what passes is Unmeasured.
    /// Of the inputs: the same number gives the same inputs. nullopt: fresh ones.
    std::optional<std::uint64_t> seed = std::nullopt;
};

/// The GPU to measure on, or why there is none (Missing), or none now. May be empty.
using GpuSource =
    std::function<Result<GpuExecutor*>(const std::stop_token& stop, const ProgressSink& progress)>;

class Reviewer {
public:
    /// `executor` may be null (no host compiler): every verdict is then Invalid with that reason.
    Reviewer(Executor* executor, const analysis::Toolchain& toolchain, GpuSource gpu = nullptr);

    /// Applies `edits` to `original`, parses the result, compiles both, runs both on fresh inputs
    /// (several seeds and shapes, odd sizes among them), compares against a float64 reference where
    /// the numerics allow rounding, runs the control that must fail, compares hazards. What passes
    /// is measured where there is a GPU: Faster, Slower or Inconclusive; Unmeasured, with the
    /// reason, where it cannot be. Never throws; trouble of ours is an error.
    [[nodiscard]] Result<Verdict> review(const ProgramSource& original,
                                         const analysis::KernelModel& kernel,
                                         const analysis::EditSet& edits, skills::Numerics numerics,
                                         std::stop_token stop, const ProgressSink& progress,
                                         const ReviewOptions& options = {}) const;

private:
    Executor* executor_;
    const analysis::Toolchain& toolchain_;
    GpuSource gpu_;
};

} // namespace kernelskill::engine
