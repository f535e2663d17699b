/// One parsed main file, kept for reparsing. The only interface to libclang.
#pragma once

#include "analysis/command/compile_command.h"
#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace kernelskill::analysis {

/// The contents of files that differ from the disk (open editors), by absolute path.
using UnsavedFiles = std::map<std::string, std::string>;

enum class ParsePurpose : std::uint8_t {
    Editing,    ///< It will be parsed again: headers are kept in a precompiled preamble.
    Once,       ///< It will not be parsed again: a preamble would cost as much as it saves.
    Candidates, ///< Other texts will be parsed by parseOther(): the preamble is kept in memory.
};

/// Call it once, before the process starts its first thread: then a text that makes the parser
/// overflow its stack gives an error. Otherwise it ends the process.
void prepareParser();

/// Not thread-safe. Different threads may use different units. Parses and walks trees on threads
/// with deep stacks.
class TranslationUnit {
public:
    /// Parses `file` with `text` as its content, by itself or as a part of the command's includer.
    /// A file with errors still gives a unit. Returns an error only if clang itself fails (crash)
    /// or the includer cannot be read.
    static Result<TranslationUnit> parse(const std::filesystem::path& file, std::string text,
                                         const CompileCommand& command, const Toolchain& toolchain,
                                         const UnsavedFiles& unsaved = {},
                                         ParsePurpose purpose = ParsePurpose::Editing);

    TranslationUnit(TranslationUnit&&) noexcept;
    TranslationUnit& operator=(TranslationUnit&&) noexcept;
    ~TranslationUnit();

    /// Parses again with new contents and reuses the preamble. After an error only the destructor
    /// may be called.
    Result<void> reparse(std::string text, const UnsavedFiles& unsaved = {});

    /// Parses another text as parse() would, whatever the unit has parsed before, and reuses the
    /// preamble. After an error only the destructor may be called.
    Result<void> parseOther(std::string text, const UnsavedFiles& unsaved = {});
    /// Whether parseOther() has a preamble to reuse. It has none after a text that the prelude is
    /// not enough for.
    [[nodiscard]] bool canParseOthers() const;

    /// Only the parser's diagnostics: cheaper than model(), for the typing path.
    [[nodiscard]] std::vector<Diagnostic> diagnostics() const;
    /// Whether the includer, if there is one, includes the file. Cheap.
    [[nodiscard]] bool readsFile() const;
    /// Whether it does so just once: else the file has several meanings.
    [[nodiscard]] bool readsFileOnce() const;
    /// Lowers the parsed unit. Contains the parser's diagnostics and the findings of the device's
    /// rules.
    [[nodiscard]] FileModel model() const;

private:
    struct Impl;
    explicit TranslationUnit(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// Combines parse() and model(), for the command line and for checking a candidate text. Parses by
/// the toolchain's units, if it has them.
[[nodiscard]] Result<FileModel> analyzeFile(const std::filesystem::path& file, std::string text,
                                            const CompileCommand& command,
                                            const Toolchain& toolchain,
                                            const UnsavedFiles& unsaved = {});

} // namespace kernelskill::analysis
