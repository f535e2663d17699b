/// A kernel together with the program that it is part of.
#pragma once

#include "engine/execution/program_source.h"

namespace kernelskill::engine {

/// The program's model is set and holds the kernel. Both outlive the reference.
struct KernelRef {
    const ProgramSource& program;
    const analysis::KernelModel& kernel;

    [[nodiscard]] const analysis::FileModel& file() const { return *program.model; }
};

} // namespace kernelskill::engine
