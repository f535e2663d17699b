/// One parsed main file, kept for reparsing. The only door to libclang.
#pragma once

#include "analysis/command/compile_command.h"
#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace kernelskill::analysis {

/// Contents of files that differ from the disk (open editors), by absolute path.
using UnsavedFiles = std::map<std::string, std::string>;

enum class ParsePurpose : std::uint8_t {
    Editing, ///< Will be parsed again: headers are kept in a precompiled preamble.
    Once,    ///< Will not: the preamble would cost as much as it saves.
};

/// Not thread-safe: one thread at a time. Different units may be used on different threads.
class TranslationUnit {
public:
    /// Parses `file` with `text` as its content. A file full of errors still gives a unit; an error
    /// is returned only when clang itself gives up (unreadable, crashed).
    static Result<TranslationUnit> parse(const std::filesystem::path& file, std::string text,
                                         const CompileCommand& command, const Toolchain& toolchain,
                                         const UnsavedFiles& unsaved = {},
                                         ParsePurpose purpose = ParsePurpose::Editing);

    TranslationUnit(TranslationUnit&&) noexcept;
    TranslationUnit& operator=(TranslationUnit&&) noexcept;
    ~TranslationUnit();

    /// Parses again with new contents, reusing the preamble.
    Result<void> reparse(std::string text, const UnsavedFiles& unsaved = {});

    /// The parser's diagnostics alone: cheaper than model(), for the typing path.
    [[nodiscard]] std::vector<Diagnostic> diagnostics() const;
    /// Lowers what was parsed. Its diagnostics are the parser's and what the device's rules add.
    [[nodiscard]] FileModel model() const;

private:
    struct Impl;
    explicit TranslationUnit(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// parse + model in one call, for the command line and for checking a candidate text.
[[nodiscard]] Result<FileModel> analyzeFile(const std::filesystem::path& file, std::string text,
                                            const CompileCommand& command,
                                            const Toolchain& toolchain,
                                            const UnsavedFiles& unsaved = {});

} // namespace kernelskill::analysis
