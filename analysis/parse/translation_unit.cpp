#include "analysis/parse/translation_unit.h"

#include "analysis/parse/clang_handle.h"
#include "analysis/parse/diagnostic_reader.h"
#include "analysis/parse/include_search.h"
#include "analysis/parse/model_builder.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

namespace kernelskill::analysis {

namespace {

namespace fs = std::filesystem;

/// A text has no zero bytes and hardly any control characters; a PNG has both within its first
/// bytes.
bool looksLikeText(std::string_view text) {
    const std::string_view head = text.substr(0, 4096);
    const auto control = std::ranges::count_if(head, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v';
    });
    return head.find('\0') == std::string_view::npos &&
           static_cast<std::size_t>(control) * 50 <= head.size();
}

Diagnostic notText(const std::string& file) {
    Diagnostic diagnostic;
    diagnostic.file = file;
    diagnostic.span = {0, 1};
    diagnostic.code = "not-text";
    diagnostic.message = "This file is not text: it holds binary data, so it is not parsed";
    return diagnostic;
}

std::optional<std::string> readFile(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

} // namespace

struct TranslationUnit::Impl {
    std::string file;
    std::shared_ptr<const SourceText> source;
    CompileCommand command;
    std::string systemDirectory;
    ParseMode mode = ParseMode::Prelude;
    std::vector<std::string> arguments;
    UnsavedFiles unsaved;
    std::vector<Include> includes;
    std::vector<ReachedFile> userFiles;
    ClangIndex index;
    ClangUnit unit; ///< Null while the content is not text.

    void setContent(std::string text, const UnsavedFiles& others) {
        source = std::make_shared<const SourceText>(std::move(text));
        unsaved = others;
        unsaved.erase(file);
        includes = includeDirectives(source->text());
        for (Include& include : includes)
            include.resolved =
                resolveUserInclude(include.spelling, fs::path(file).parent_path(), command)
                    .string();
        userFiles = reachableUserFiles(file, includes, command, [this](const fs::path& path) {
            const auto open = unsaved.find(path.string());
            return open != unsaved.end() ? std::optional(open->second) : readFile(path);
        });
    }

    [[nodiscard]] std::vector<CXUnsavedFile> clangFiles() const {
        std::vector<CXUnsavedFile> files;
        files.push_back({file.c_str(), source->text().c_str(), source->text().size()});
        for (const auto& [path, content] : unsaved)
            files.push_back({path.c_str(), content.c_str(), content.size()});
        return files;
    }

    Result<void> parse() {
        unit.reset();
        if (!looksLikeText(source->text()))
            return {};
        std::vector<const char*> argumentPointers;
        for (const std::string& argument : arguments)
            argumentPointers.push_back(argument.c_str());
        std::vector<CXUnsavedFile> files = clangFiles();
        CXTranslationUnit parsed = nullptr;
        const CXErrorCode code = clang_parseTranslationUnit2(
            index.get(), file.c_str(), argumentPointers.data(),
            static_cast<int>(argumentPointers.size()), files.data(),
            static_cast<unsigned>(files.size()),
            CXTranslationUnit_PrecompiledPreamble | CXTranslationUnit_CreatePreambleOnFirstParse |
                CXTranslationUnit_KeepGoing,
            &parsed);
        unit.reset(parsed);
        if (code != CXError_Success || !unit)
            return std::unexpected(failure(code));
        return {};
    }

    [[nodiscard]] Error failure(int code) const {
        if (code == CXError_Crashed)
            return {ErrorKind::Failed, "clang crashed while it parsed the file", file,
                    "Undo the last change, or report the file"};
        return {ErrorKind::Failed, "clang could not parse the file", file,
                "Check the compile command with 'kernelskill doctor'"};
    }

    [[nodiscard]] std::vector<Diagnostic> diagnostics() const {
        if (!unit)
            return {notText(file)};
        return readDiagnostics(unit.get(), {file, *source, includes, userFiles, mode});
    }
};

TranslationUnit::TranslationUnit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TranslationUnit::TranslationUnit(TranslationUnit&&) noexcept = default;
TranslationUnit& TranslationUnit::operator=(TranslationUnit&&) noexcept = default;
TranslationUnit::~TranslationUnit() = default;

Result<TranslationUnit> TranslationUnit::parse(const fs::path& file, std::string text,
                                               const CompileCommand& command,
                                               const Toolchain& toolchain,
                                               const UnsavedFiles& unsaved) {
    auto impl = std::make_unique<Impl>();
    std::error_code error;
    impl->file = fs::absolute(file, error).lexically_normal().string();
    impl->command = command;
    impl->systemDirectory = toolchain.preludeInclude.string();
    impl->mode = toolchain.toolkit ? ParseMode::Toolkit : ParseMode::Prelude;
    impl->arguments = clangArguments(command, toolchain);
    impl->index.reset(clang_createIndex(0, 0));
    impl->setContent(std::move(text), unsaved);
    if (Result<void> parsed = impl->parse(); !parsed)
        return std::unexpected(parsed.error());
    return TranslationUnit(std::move(impl));
}

Result<void> TranslationUnit::reparse(std::string text, const UnsavedFiles& unsaved) {
    impl_->setContent(std::move(text), unsaved);
    if (!impl_->unit || !looksLikeText(impl_->source->text()))
        return impl_->parse();
    std::vector<CXUnsavedFile> files = impl_->clangFiles();
    const int code =
        clang_reparseTranslationUnit(impl_->unit.get(), static_cast<unsigned>(files.size()),
                                     files.data(), clang_defaultReparseOptions(impl_->unit.get()));
    if (code == 0)
        return {};
    // After a failed reparse the unit may only be disposed of: start afresh.
    return impl_->parse();
}

std::vector<Diagnostic> TranslationUnit::diagnostics() const {
    return impl_->diagnostics();
}

FileModel TranslationUnit::model() const {
    FileModel model;
    model.file = impl_->file;
    model.source = impl_->source;
    model.mode = impl_->mode;
    model.diagnostics = impl_->diagnostics();
    model.includes = impl_->includes;
    model.userFiles.push_back(impl_->file);
    for (const ReachedFile& reached : impl_->userFiles)
        model.userFiles.push_back(reached.path);
    if (impl_->unit)
        buildModel(impl_->unit.get(), impl_->systemDirectory, model);
    return model;
}

Result<FileModel> analyzeFile(const fs::path& file, std::string text, const CompileCommand& command,
                              const Toolchain& toolchain, const UnsavedFiles& unsaved) {
    Result<TranslationUnit> unit =
        TranslationUnit::parse(file, std::move(text), command, toolchain, unsaved);
    if (!unit)
        return std::unexpected(unit.error());
    return unit->model();
}

} // namespace kernelskill::analysis
