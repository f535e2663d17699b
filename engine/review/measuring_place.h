/// A place where kernels are compared and timed on a GPU: KernelSkill's own process, or a program
/// of the user.
#pragma once

#include "engine/execution/kernel_ref.h"
#include "engine/review/screening.h"
#include "engine/review/timing_verdict.h"
#include "engine/verdict/check_result.h"
#include "skills/base/accuracy.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct GpuMeasurement {
    CheckResult agreement; ///< Whether the results on the GPU agree.
    /// Whether compute-sanitizer finds nothing new; nullopt if it is not asked, or if the results
    /// do not agree.
    std::optional<CheckResult> sanitized;
    std::optional<TimingVerdict> timing; ///< nullopt if a check failed, or if nothing was timed.
};

/// What a review knows of an edit before it is measured.
struct MeasuredEdit {
    KernelRef original;
    KernelRef candidate;
    const skills::Accuracy& accuracy;
    std::uint64_t seed = 1; ///< The seed of inputs that are made up.
    /// Whether runs on the emulator have shown that both agree.
    bool isChecked = true;
};

/// Several threads may call any function at once.
class MeasuringPlace {
public:
    virtual ~MeasuringPlace() = default;

    /// Whether the launch and the data are those of a program. Such a place can judge edits that no
    /// other run can check.
    [[nodiscard]] virtual bool hasOwnLaunch() const = 0;

    /// The integers that the program passes to the kernel, by the parameter's name; empty if there
    /// is no program.
    [[nodiscard]] virtual std::map<std::string, std::int64_t> passed() const { return {}; }

    /// Times all `candidates` beside the original in one run, in a fraction of a review's time. The
    /// error of a candidate says why it could not be timed.
    [[nodiscard]] virtual std::vector<Result<Screening>>
    screen(KernelRef original, std::span<const KernelRef> candidates, std::uint64_t seed,
           const std::stop_token& stop) = 0;

    /// Does ahead what measure() needs no GPU for, such as compiling the candidate. A review calls
    /// it beside its other checks, and stops it if one of them fails.
    virtual void prepare(KernelRef /*candidate*/, const std::stop_token& /*stop*/) {}

    /// Compares both several times, and times them in turns. Errors say why nothing could be
    /// measured, which is not the edit's fault: Unsupported if another place could.
    [[nodiscard]] virtual Result<GpuMeasurement> measure(const MeasuredEdit& edit,
                                                         const std::stop_token& stop) = 0;
};

} // namespace kernelskill::engine
