/// Resolves include directives without a compiler.
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

/// The include directives of `text`, with empty `resolved`. Leaves out those in comments, but
/// includes those in inactive branches.
[[nodiscard]] std::vector<Include> includeDirectives(std::string_view text);

/// "cuda_fp16.h" for `<cuda_fp16.h>`.
[[nodiscard]] std::string_view includeName(std::string_view spelling);

/// The user's file that `spelling` refers to in a file of the folder `from`: next to it, or in a -I
/// folder. Empty if it is a system header or not found.
[[nodiscard]] std::filesystem::path resolveUserInclude(std::string_view spelling,
                                                       const std::filesystem::path& from,
                                                       const CompileCommand& command);

/// The pipe or device that `#include` of `spelling` would open. Empty if there is none.
[[nodiscard]] std::filesystem::path irregularInclude(std::string_view spelling,
                                                     const std::filesystem::path& from,
                                                     const CompileCommand& command);

/// A user's file that a main file includes, directly or indirectly.
struct ReachedFile {
    std::string path;
    std::size_t directive = 0; ///< Index of the directive in the main file that leads to it.
};

/// Every user file that `text`, the content of `mainFile`, includes directly or indirectly, in
/// order of discovery. `read` returns a file's content; `onIrregular` is told of pipes and devices,
/// which are not read. Stops after a few hundred files.
[[nodiscard]] std::vector<ReachedFile> reachableUserFiles(
    const std::filesystem::path& mainFile, const std::vector<Include>& directives,
    const CompileCommand& command,
    const std::function<std::optional<std::string>(const std::filesystem::path&)>& read,
    const std::function<void(const std::filesystem::path&)>& onIrregular = {});

} // namespace kernelskill::analysis
