/// Reviews host code: compares two bodies of one function.
#pragma once

#include "analysis/model/kernel_model.h"

#include <string>

namespace kernelskill::engine {

/// A file with kernels and host code, whose function run() has `body`. The same text is parsed
/// once.
[[nodiscard]] const analysis::FileModel& parsed(const std::string& body);

/// The result of checkHostOrder(): "" if it holds, else status and detail.
[[nodiscard]] std::string verdictOn(const std::string& before, const std::string& after);
/// The detail of a check that holds; else as verdictOn().
[[nodiscard]] std::string detailOn(const std::string& before, const std::string& after);

} // namespace kernelskill::engine
