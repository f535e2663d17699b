/// Walks over a parsed unit and lowers the relevant functions into a FileModel.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/parse/clang_handle.h"

#include <string>
#include <vector>

namespace kernelskill::analysis {

/// Fills kernels, deviceFunctions and hostFunctions of `model`, whose file and source are set.
/// Files below `systemDirectory`, the built-in prelude, are not the user's.
void buildModel(CXTranslationUnit unit, const std::string& systemDirectory, FileModel& model);

} // namespace kernelskill::analysis
