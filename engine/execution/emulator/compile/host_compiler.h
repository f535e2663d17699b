/// The host compiler, as a maker of images.
#pragma once

#include "analysis/command/compile_command.h"
#include "engine/execution/emulator/compile/image_options.h"
#include "engine/process/child_process.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The compiler that builds images: `wanted`, else $KERNELSKILL_HOST_CXX, else g++, c++, clang++ on
/// PATH. Absolute. Missing, with the remedy, when there is none.
[[nodiscard]] Result<std::filesystem::path> findHostCompiler(const std::filesystem::path& wanted);

/// Prefix of the user's paths in an image's line table, which tells them from those of system
/// headers.
inline constexpr std::string_view userPathMarker = "/@user";

/// Flags that do not depend on where the files lie: part of an image's identity.
[[nodiscard]] std::vector<std::string> compilerFlags(const ImageOptions& options,
                                                     const analysis::CompileCommand& command);

struct CompileRequest {
    std::filesystem::path
        workFolder; ///< Holds src/ (the mirror), prefix.h, unit.cpp; the object goes to image.so.
    std::vector<std::string> flags;                 ///< As compilerFlags gives them.
    std::vector<std::filesystem::path> includeDirs; ///< In the mirror.
    std::vector<std::string> forcedIncludes;        ///< In the mirror.
};

struct CompileOutcome {
    bool succeeded = false;
    std::string messages; ///< The compiler's, paths as the user knows them.
    std::vector<std::string>
        undefinedSymbols; ///< Functions and variables the image needs and nobody defines.
};

[[nodiscard]] Result<CompileOutcome>
compileImage(const CompileRequest& request, const ImageOptions& options, std::stop_token stop);

/// "path:line:column: error: text", taken apart.
struct CompilerMessage {
    std::string file;
    std::uint32_t line = 0; ///< One-based.
    std::string text;
};
/// The first error; nullopt when the messages hold none.
[[nodiscard]] std::optional<CompilerMessage> firstError(const std::string& messages);
/// Names that errors call undeclared, unknown types or not members of a namespace.
[[nodiscard]] std::vector<std::string> missingNames(const std::string& messages);

} // namespace kernelskill::engine
