/// Finds host code that libclang allows on the device and nvcc does not. Implementation detail of
/// the parser.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/parse/clang_handle.h"

#include <string_view>

namespace kernelskill::analysis {

struct HostFunctionText {
    std::string_view file; ///< Content of the file that contains it.
    Span span;
    bool isInMainFile = false;
    std::string_view prelude; ///< Folder of the built-in CUDA headers.
};

/// `function` is a definition without __global__ and __device__.
void collectHostOnly(CXCursor function, const HostFunctionText& where, HostOnlyCode& found);

} // namespace kernelskill::analysis
