/// The text that launches of a file's kernels are inferred from, read once for all of them.
#pragma once

#include "engine/inputs/launch_inference.h"
#include "engine/inputs/pin_syntax.h"
#include "engine/inputs/program_text.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// Immutable, so threads may share it. Keeps no reference to the model.
class LaunchSource {
public:
    explicit LaunchSource(const analysis::FileModel& file);

    [[nodiscard]] const ProgramText& program() const { return program_; }
    /// The well-formed pins of the kernel, in order.
    [[nodiscard]] std::vector<ParsedPin> pinsOf(const analysis::KernelModel& kernel) const;

private:
    ProgramText program_;
    LaunchPins pins_;
};

} // namespace kernelskill::engine
