/// Runs a planned model's kernels one after another, on any executor: on the emulator, what a
/// generated model computes is known without a GPU.
#pragma once

#include "analysis/command/toolchain.h"
#include "engine/execution/executor.h"
#include "engine/graph/model/model_plan.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// The bytes of each buffer of the plan's program, by its number; empty: not given or not computed.
using BufferMemory = std::vector<std::vector<std::byte>>;

/// Runs all kernels on the inputs and weights in `memory`, and adds what they write. `sizes`: the
/// values of the plan's symbols. Unsupported, with the node, for a node that is left to a library
/// and whose results `memory` does not hold; Failed, with the kernel, if one does not compile, ends
/// with an error or has a hazard; Cancelled on `stop`.
[[nodiscard]] Result<void> runModel(const ModelPlan& plan,
                                    const std::map<std::string, std::int64_t>& sizes,
                                    BufferMemory& memory, Executor& executor,
                                    const analysis::Toolchain& toolchain, std::stop_token stop);

/// The value of an index over sizes alone.
[[nodiscard]] std::int64_t valueOf(const analysis::raise::Index& index,
                                   const std::map<std::string, std::int64_t>& sizes);

} // namespace kernelskill::engine::graph
