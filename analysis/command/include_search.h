/// Finding the files that include directives mean, without a compiler.
#pragma once

#include "analysis/command/compile_command.h"
#include "analysis/model/kernel_model.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// The include directives of `text`, `resolved` left empty. Those in comments and inactive
/// branches: the former are left out, the latter are in.
[[nodiscard]] std::vector<Include> includeDirectives(std::string_view text);

/// "cuda_fp16.h" of `<cuda_fp16.h>`.
[[nodiscard]] std::string_view includeName(std::string_view spelling);

/// The user's file that `spelling` in a file of folder `from` means: beside it, or in a -I folder.
/// Empty when it is a system header or nowhere.
[[nodiscard]] std::filesystem::path resolveUserInclude(std::string_view spelling,
                                                       const std::filesystem::path& from,
                                                       const CompileCommand& command);

/// A user's file reached from a main file.
struct ReachedFile {
    std::string path;
    std::size_t directive = 0; ///< Index of the main file's directive that leads to it.
};

/// Every user file that `text`, the content of `mainFile`, includes directly or through others, in
/// order of discovery. `read` gives a file's content. Bounded: stops after a few hundred files.
[[nodiscard]] std::vector<ReachedFile> reachableUserFiles(
    const std::filesystem::path& mainFile, const std::vector<Include>& directives,
    const CompileCommand& command,
    const std::function<std::optional<std::string>(const std::filesystem::path&)>& read);

} // namespace kernelskill::analysis
