/// Collects loops, memory accesses, barriers and other facts from lowered functions. This part of
/// the model needs no compiler.
#pragma once

#include "analysis/model/kernel_model.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace kernelskill::analysis {

/// Identifies a function of a file model, because overloads and specialisations share a qualified
/// name.
using FunctionKey =
    std::tuple<std::string, std::string, std::uint32_t>; ///< file, qualified name, begin
[[nodiscard]] FunctionKey functionKey(const KernelModel& function);

/// The qualified names of the user's functions that each call may refer to.
using CalleeTable = std::map<FunctionKey, std::map<ExprId, std::vector<std::string>>>;

/// Completes every kernel, device function and host function with loops in `model`, whose `body`
/// and `parameters` are set.
void collectFacts(FileModel& model, const CalleeTable& callees);

} // namespace kernelskill::analysis
