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

/// Values of a comma-separated list of constant expressions, e.g. of `__launch_bounds__(2 * WARP,
/// 4)`. Names are looked up in the `#define`s and constant definitions of `text`; nullopt for what
/// is not constant.
[[nodiscard]] std::vector<std::optional<std::int64_t>> evaluateConstantList(std::string_view list,
                                                                            std::string_view text);

} // namespace kernelskill::analysis
