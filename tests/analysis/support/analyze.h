/// Parses texts and files of the repository for tests.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/model/kernel_model.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis::testing {

/// The built-in prelude, a toolkit hidden.
[[nodiscard]] Toolchain preludeToolchain();

/// Fails the test when there is no model.
[[nodiscard]] FileModel analyze(const std::string& text,
                                const std::string& name = "/nowhere/test.cu");
[[nodiscard]] std::string readFile(const std::filesystem::path& path);
[[nodiscard]] std::filesystem::path sourceDirectory();

[[nodiscard]] std::vector<Diagnostic> errorsOf(const FileModel& model);
/// Text of an expression, statement or declaration.
[[nodiscard]] std::string textOf(const FileModel& model, Span span);
/// The first access whose text is `text`; fails the test when there is none.
[[nodiscard]] const MemoryAccess& accessOf(const FileModel& model, const KernelModel& kernel,
                                           std::string_view text);

} // namespace kernelskill::analysis::testing
