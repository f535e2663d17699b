/// Walks a parsed unit and lowers the functions that matter into a FileModel.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/parse/clang_handle.h"

#include <string>
#include <vector>

namespace kernelskill::analysis {

/// Fills kernels, deviceFunctions and hostFunctions of `model`, whose file, source and userFiles
/// are set.
void buildModel(CXTranslationUnit unit, FileModel& model);

} // namespace kernelskill::analysis
