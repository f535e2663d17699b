/// Finds what two versions of a program have different, kernel by kernel.
#pragma once

#include "analysis/model/kernel_model.h"

#include <memory>
#include <string>

namespace kernelskill::engine {

/// Names are followed as they are spelled, so an unrelated declaration of the same name counts as
/// well. Comments and white space do not count. Not thread-safe.
class ProgramComparison {
public:
    /// Both models outlive the comparison.
    ProgramComparison(const analysis::FileModel& before, const analysis::FileModel& after);
    ~ProgramComparison();
    ProgramComparison(const ProgramComparison&) = delete;
    ProgramComparison& operator=(const ProgramComparison&) = delete;

    /// Whether the kernel of this plain name differs, or a function, macro, type or variable that
    /// it uses, directly or through others.
    [[nodiscard]] bool codeDiffers(const std::string& kernel);
    /// Whether the launches of the kernel differ, as far as they can be computed.
    [[nodiscard]] bool launchesDiffer(const analysis::KernelModel& before,
                                      const analysis::KernelModel& after) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace kernelskill::engine
