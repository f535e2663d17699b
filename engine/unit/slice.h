/// Selects the declarations of the user's files that a kernel needs. Only names decide: if a
/// declaration is kept, so are those that it names.
#pragma once

#include "analysis/scan/declarations.h"
#include "analysis/scan/macros.h"
#include "engine/unit/user_files.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The user's files with their declarations; tokens and declarations refer into `files`.
class ScannedProgram {
public:
    ScannedProgram(std::vector<UserFile> files, const std::vector<std::string>& definitions);
    ScannedProgram(const ScannedProgram&) = delete;
    ScannedProgram& operator=(const ScannedProgram&) = delete;

    struct File {
        UserFile source;
        std::vector<analysis::Token> tokens; ///< Without `#if 0` branches.
        analysis::DeclarationScan scan;
    };
    [[nodiscard]] const std::vector<File>& files() const { return files_; }
    [[nodiscard]] const analysis::MacroTable& macros() const { return macros_; }

private:
    std::vector<File> files_;
    analysis::MacroTable macros_;
};

enum class SliceWidth : std::uint8_t {
    Needed,     ///< Declarations that the kernel names, directly or indirectly.
    DeviceCode, ///< Everything but host functions and host variables.
};

struct SliceRequest {
    std::string kernelFile;         ///< Path of the file that defines the kernel.
    std::uint32_t kernelOffset = 0; ///< A place inside its definition.
    std::string kernelName;         ///< Unqualified.
    std::set<std::string> seeds;    ///< Further used names, from template arguments.
    std::set<std::string> forced;   ///< Names to keep even if they look like host code.
    SliceWidth width = SliceWidth::Needed;
};

/// The slice of one file of the program.
struct FileSlice {
    std::vector<const analysis::Declaration*> kept;
    /// Parts of kept declarations that are left out: host-only member functions.
    std::vector<analysis::Span> dropped;
    /// A kept declaration includes the file between its brackets, as the numbers of a table or the
    /// rest of a function's body: all of its text is needed.
    bool isWhole = false;
    /// #include lines of such files in declarations that are not kept.
    std::vector<analysis::Span> unneededIncludes;
};

/// One slice per file, in order.
[[nodiscard]] std::vector<FileSlice> sliceProgram(const ScannedProgram& program,
                                                  const SliceRequest& request);

/// `file`'s text with everything outside the slice replaced by blanks: lengths, lines and columns
/// stay the same. Directives and `namespace` blocks stay, but for unneeded #include lines.
[[nodiscard]] std::string blankedText(const ScannedProgram::File& file, const FileSlice& slice);

/// Overwrites `span` with spaces. Line ends, and backslashes that splice lines, stay.
void blank(std::string& text, analysis::Span span);

} // namespace kernelskill::engine
