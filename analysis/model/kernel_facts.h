/// Reads loops, memory accesses, barriers and the like off lowered functions: the part of the model
/// that needs no compiler.
#pragma once

#include "analysis/model/kernel_model.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace kernelskill::analysis {

/// Names a function of a file model: overloads and specialisations share a qualified name.
using FunctionKey =
    std::tuple<std::string, std::string, std::uint32_t>; ///< file, qualified name, begin
[[nodiscard]] FunctionKey functionKey(const KernelModel& function);

/// Qualified names of the user's functions that each call may mean.
using CalleeTable = std::map<FunctionKey, std::map<ExprId, std::vector<std::string>>>;

/// Completes every kernel, device function and host function with loops of `model`, whose `body`
/// and `parameters` are there.
void collectFacts(FileModel& model, const CalleeTable& callees);

} // namespace kernelskill::analysis
