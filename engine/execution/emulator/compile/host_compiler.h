/// Runs the host compiler to make images.
#pragma once

#include "analysis/command/compile_command.h"
#include "engine/execution/emulator/compile/arithmetic.h"
#include "engine/execution/emulator/compile/image_options.h"
#include "engine/process/child_process.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Finds the compiler for images: `wanted`, else $KERNELSKILL_HOST_CXX, else g++, c++, clang++ on
/// PATH. The result is absolute. Missing, with a remedy, if there is none.
[[nodiscard]] Result<std::filesystem::path> findHostCompiler(const std::filesystem::path& wanted);

/// The prefix of the user's paths in an image's line table, which distinguishes them from system
/// headers.
inline constexpr std::string_view userPathMarker = "/@user";

/// The header in a work folder that includes the prelude and what the emulator adds to it. Every
/// unit begins with it.
inline constexpr std::string_view preludeHeaderName = "kernelskill_prelude.h";
[[nodiscard]] std::string preludeHeaderText(const ImageOptions& options);
/// Added to a header's name, gives the file beside it that g++ reads in place of the header, if it
/// was compiled with flags that match.
inline constexpr std::string_view precompiledSuffix = ".gch";

/// Whether the compiler reads precompiled headers by that name: g++ does, clang does not.
[[nodiscard]] bool takesPrecompiledPrelude(const ImageOptions& options);

/// The accesses to a thread's own arrays that are checked.
enum class LocalChecks : std::uint8_t {
    None,
    Subscripts, ///< `a[i]` for an array `a`.
    Pointers,   ///< And accesses by a pointer that leads into such an array.
};

/// Names the checks that a run on the emulator makes in addition to those of memory accesses.
struct ImageChecks {
    LocalChecks locals = LocalChecks::None;
    bool divisions = false; ///< See ProgramSource::checksDivisions.
};

/// The flags on which the prelude's meaning depends: compilerFlags() without the user's macros.
[[nodiscard]] std::vector<std::string> preludeFlags(const ImageOptions& options,
                                                    const analysis::CompileCommand& command,
                                                    const ImageChecks& checks);

/// Compiles the prelude's header in `workFolder` with flags from preludeFlags(), in half a second,
/// behind the walls of compileImage(). For a small kernel that is most of compileImage()'s time.
[[nodiscard]] bool precompilePrelude(const std::filesystem::path& workFolder,
                                     const std::vector<std::string>& flags,
                                     const ImageOptions& options, std::stop_token stop);

/// Flags that do not depend on where files are. They are part of an image's cache key.
[[nodiscard]] std::vector<std::string> compilerFlags(const ImageOptions& options,
                                                     const analysis::CompileCommand& command,
                                                     const ImageChecks& checks);

struct CompileRequest {
    /// Contains src/ (the mirror), the prelude's header, prefix.h and unit.cpp; the object becomes
    /// image.so.
    std::filesystem::path workFolder;
    std::vector<std::string> flags;                       ///< From compilerFlags().
    std::vector<std::filesystem::path> includeDirs;       ///< In the mirror.
    std::vector<std::string> forcedIncludes;              ///< In the mirror.
    std::vector<std::filesystem::path> systemIncludeDirs; ///< Searched last; where they are.
    /// The originals of the mirror's files, which an #include can name by their whole path.
    std::vector<std::filesystem::path> originals;
    /// See AssemblyOptions; empty unless locals are followed.
    FileLines localAccesses = {};
};

struct CompileOutcome {
    bool succeeded = false;
    std::string messages; ///< The compiler's messages, with the user's paths.
    /// What the assembly holds that no compiler writes: it was neither assembled nor kept. Else
    /// empty.
    std::string foreign;
    std::string exceededLimit; ///< "it takes more than 4 GiB of memory to compile"; else empty.
    /// Functions and variables that the image needs and that are defined nowhere.
    std::vector<std::string> undefinedSymbols;
};

/// Compilers run behind walls (engine/process/walls.h): they read the system's folders, their own,
/// the prelude and the request's, and write to the work folder.
[[nodiscard]] Result<CompileOutcome>
compileImage(const CompileRequest& request, const ImageOptions& options, std::stop_token stop);

/// The parts of "path:line:column: error: text".
struct CompilerMessage {
    std::string file;
    std::uint32_t line = 0; ///< One-based.
    std::string text;
};
/// The first error; nullopt if there is none.
[[nodiscard]] std::optional<CompilerMessage> firstError(const std::string& messages);
/// The names that errors call undeclared, unknown types or not members of a namespace.
[[nodiscard]] std::vector<std::string> missingNames(const std::string& messages);

} // namespace kernelskill::engine
