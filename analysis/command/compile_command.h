/// Interprets nvcc's command line: how a file is compiled.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/source/error.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::analysis {

/// A source that includes a file too, beside the one that the file is read through.
struct OtherIncluder {
    std::string file;
    /// Identifiers of its text, and of what it includes beside the file: what it may launch.
    std::set<std::string, std::less<>> words;
};

enum class CommandOrigin : std::uint8_t { CompilationDatabase, FlagsFile, Inferred };

/// The parts of a command line that affect parsing and compiling kernels.
struct CompileCommand {
    CommandOrigin origin = CommandOrigin::Inferred;
    std::string originPath; ///< The compile_commands.json or compile_flags.txt; else empty.
    std::filesystem::path directory;            ///< The base of relative paths.
    std::vector<std::string> includeDirs;       ///< -I, absolute
    std::vector<std::string> systemIncludeDirs; ///< -isystem, absolute
    std::vector<std::string> definitions;       ///< "NAME" or "NAME=VALUE"
    std::vector<std::string> undefinitions;
    std::vector<std::string> forcedIncludes; ///< -include, --pre-include
    std::string standard = "c++17";          ///< nvcc's default
    /// "sm_90", from -arch and -gencode; empty if not given.
    std::vector<std::string> architectures;
    std::vector<std::string>
        hostFlags; ///< Options from -Xcompiler that clang understands (-fopenmp, -m64, ...).
    bool relocatableDeviceCode = false;
    bool fastMath = false;
    bool extendedLambda = false;
    bool relaxedConstexpr = false;
    /// Options that change machine code, as nvcc and NVRTC spell them: "--maxrregcount=32".
    std::vector<std::string> codeOptions;
    std::vector<std::string> ignored; ///< Flags without an effect here, for `doctor` and the log.
    /// The flags that were left out for the user's safety, one sentence each, to be shown.
    std::vector<std::string> notes;
    /// The source that is parsed and compiled in the file's place, because it includes the file;
    /// absolute. Empty: the file itself. See includer_search.h.
    std::string includer;
    std::shared_ptr<const std::vector<OtherIncluder>> otherIncluders; ///< Null: there is none.
    bool operator==(const CompileCommand&) const = default;
};

/// Translates the arguments of nvcc, clang or a host compiler, without the program's name.
/// `--options-file`/`@file` are read relative to `directory`, and what they hold is translated in
/// the same way. Only what is known passes (flag_rules.h); never a program's name. Never fails:
/// arguments without an effect go into `ignored`, doubtful ones into `notes`.
[[nodiscard]] CompileCommand translateArguments(const std::vector<std::string>& arguments,
                                                const std::filesystem::path& directory);

/// Searches for compile_commands.json (also in build/) and compile_flags.txt from the file's folder
/// upwards, up to `workspaceRoot` if given. A header takes the command of the closest source. If
/// nothing is found, infers include folders: the file's folder, include/, ../include, inc/,
/// common/, and nearby folders that contain the included headers.
class CompileCommands {
public:
    /// Whether flags may be read from a file that the search has found.
    using Gate = std::function<bool(const std::filesystem::path&)>;

    /// `mayRead` empty: from any file. A file that may not be read is passed over with a note.
    explicit CompileCommands(std::vector<std::string> fallbackFlags = {},
                             std::filesystem::path databaseDirectory = {}, Gate mayRead = {});
    /// InvalidInput, with file and line, if a database exists but cannot be read. The caller may
    /// then use `inferred`.
    [[nodiscard]] Result<CompileCommand>
    commandFor(const std::filesystem::path& file, const std::filesystem::path& workspaceRoot) const;
    [[nodiscard]] CompileCommand inferred(const std::filesystem::path& file,
                                          const std::filesystem::path& workspaceRoot) const;
    /// The sources of the database that `file`'s command would come from; empty without one.
    [[nodiscard]] std::vector<std::filesystem::path>
    listedSources(const std::filesystem::path& file,
                  const std::filesystem::path& workspaceRoot) const;
    /// Whether the user lets `path` say how code is compiled.
    [[nodiscard]] bool mayRead(const std::filesystem::path& path) const {
        return !mayRead_ || mayRead_(path);
    }

private:
    std::vector<std::string> fallbackFlags_;
    std::filesystem::path databaseDirectory_;
    Gate mayRead_;
};

/// clang's arguments for `command` in the mode that `toolchain` allows.
[[nodiscard]] std::vector<std::string> clangArguments(const CompileCommand& command,
                                                      const Toolchain& toolchain);

} // namespace kernelskill::analysis
