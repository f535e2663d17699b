/// LibTorch in the test's own process, as the reference of model checks.
#pragma once

#include "engine/graph/check/model_check.h"
#include "engine/graph/torch/prepared_program.h"
#include "engine/graph/torch/program_run.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernelskill::engine::graph::testing {

inline ModelReference referenceFor(const Program& program, std::uint64_t seed) {
    return [program, seed](const ProgramExtents& extents,
                           const std::vector<std::string>& keep) -> Result<TorchRun> {
        auto typed = withRaisedTypes(withExtents(program, extents.largest));
        if (typed)
            typed = withSymbolValues(*std::move(typed), extents.symbols);
        if (!typed)
            return std::unexpected(typed.error());
        TorchSubject subject;
        subject.precision = Precision::Float64;
        subject.seed = seed;
        const auto prepared =
            PreparedProgram::prepare(std::make_shared<const Program>(*std::move(typed)), subject);
        if (!prepared)
            return std::unexpected(prepared.error());
        return runProgram(*prepared, {{keep.begin(), keep.end()}, false});
    };
}

} // namespace kernelskill::engine::graph::testing
