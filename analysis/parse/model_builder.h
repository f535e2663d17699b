/// Walks a parsed unit and lowers the functions that matter into a FileModel.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/parse/clang_handle.h"

#include <string>
#include <vector>

namespace kernelskill::analysis {

/// Fills kernels, deviceFunctions and hostFunctions of `model`, whose file and source are set. What
/// lies below `systemDirectory`, the built-in prelude, is not the user's.
void buildModel(CXTranslationUnit unit, const std::string& systemDirectory, FileModel& model);

} // namespace kernelskill::analysis
