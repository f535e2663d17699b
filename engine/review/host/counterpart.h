/// The same host function in two versions of a file.
#pragma once

#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <optional>

namespace kernelskill::engine {

/// The index in `to` of the function of that name with as many of the name before it; nullopt if
/// it launches nothing there.
[[nodiscard]] std::optional<std::uint32_t>
counterpart(const analysis::FileModel& from, std::uint32_t function, const analysis::FileModel& to);

} // namespace kernelskill::engine
