#include "analysis/parse/translation_unit.h"

#include "analysis/command/include_search.h"
#include "analysis/device_rules/device_rules.h"
#include "analysis/parse/clang_handle.h"
#include "analysis/parse/deep_stack.h"
#include "analysis/parse/diagnostic_reader.h"
#include "analysis/parse/mode_choice.h"
#include "analysis/parse/model_builder.h"
#include "analysis/scan/macro_growth.h"
#include "analysis/source/files.h"
#include "analysis/syntax/nesting.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

namespace kernelskill::analysis {

namespace {

namespace fs = std::filesystem;

/// Whether the content looks like text. Text has no zero bytes and hardly any control characters; a
/// PNG has both in its first bytes.
bool looksLikeText(std::string_view text) {
    const std::string_view head = text.substr(0, 4096);
    const auto control = std::ranges::count_if(head, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v';
    });
    return head.find('\0') == std::string_view::npos &&
           static_cast<std::size_t>(control) * 50 <= head.size();
}

/// Why the text is not given to the parser; nullopt if it is.
std::optional<Diagnostic> reasonNotToParse(const std::string& file, std::string_view text) {
    Diagnostic diagnostic;
    diagnostic.file = file;
    if (!looksLikeText(text)) {
        diagnostic.span = {0, 1};
        diagnostic.code = "not-text";
        diagnostic.message = "This file is not text: it holds binary data, so it is not parsed";
        return diagnostic;
    }
    if (const std::optional<Span> place = tooDeeplyNested(text)) {
        diagnostic.span = *place;
        diagnostic.severity = Severity::Warning;
        diagnostic.origin = DiagnosticOrigin::Notice;
        diagnostic.code = "nested-too-deeply";
        diagnostic.message = "Brackets are nested deeper than " + std::to_string(maxOpenBrackets) +
                             " here, or more than " + std::to_string(maxOperatorsInARow) +
                             " operators follow each other: the file is not analysed";
        return diagnostic;
    }
    if (const std::optional<Span> place = findMacroExplosion(text)) {
        diagnostic.span = *place;
        diagnostic.severity = Severity::Warning;
        diagnostic.origin = DiagnosticOrigin::Notice;
        diagnostic.code = "macro-explosion";
        diagnostic.message = "Macros have expanded to more than " +
                             std::to_string(maxExpandedTokens) +
                             " tokens here: the file is not analysed";
        return diagnostic;
    }
    return std::nullopt;
}

} // namespace

struct TranslationUnit::Impl {
    std::string file;
    std::shared_ptr<const SourceText> source;
    CompileCommand command; ///< Without the toolkit's folders.
    Toolchain toolchain;
    std::string systemDirectory;
    ParseMode mode = ParseMode::Prelude;
    std::vector<std::string> arguments;
    UnsavedFiles unsaved;
    std::vector<Include> includes;
    std::vector<ReachedFile> userFiles;
    std::optional<HeaderWords> headerWords; ///< Read at the first error.
    std::set<std::string> triedNames;       ///< Names in errors for which the toolkit was tried.
    ParsePurpose purpose = ParsePurpose::Editing;
    mutable std::optional<KnownNames> preludeNames; ///< Read when a name of CUDA is unknown.
    ClangIndex index;
    ClangUnit unit;                      ///< Null while the content is not parsed.
    std::optional<Diagnostic> notParsed; ///< Why.

    void setContent(std::string text, const UnsavedFiles& others) {
        source = std::make_shared<const SourceText>(std::move(text));
        notParsed = reasonNotToParse(file, source->text());
        unsaved = others;
        unsaved.erase(file);
        includes = includeDirectives(source->text());
        for (Include& include : includes)
            include.resolved =
                resolveUserInclude(include.spelling, fs::path(file).parent_path(), command)
                    .string();
        const auto read = [this](const fs::path& path) {
            const auto open = unsaved.find(path.string());
            return open != unsaved.end() ? std::optional(open->second) : readFile(path);
        };
        // clang would wait for the end of a pipe: it gets an empty file in its place.
        userFiles = reachableUserFiles(file, includes, command, read, [this](const fs::path& path) {
            unsaved.try_emplace(path.string());
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
        if (notParsed)
            return {};
        std::vector<const char*> argumentPointers;
        for (const std::string& argument : arguments)
            argumentPointers.push_back(argument.c_str());
        std::vector<CXUnsavedFile> files = clangFiles();
        const unsigned preamble = purpose == ParsePurpose::Editing
                                      ? CXTranslationUnit_PrecompiledPreamble |
                                            CXTranslationUnit_CreatePreambleOnFirstParse
                                      : CXTranslationUnit_None;
        CXTranslationUnit parsed = nullptr;
        const CXErrorCode code = clang_parseTranslationUnit2(
            index.get(), file.c_str(), argumentPointers.data(),
            static_cast<int>(argumentPointers.size()), files.data(),
            static_cast<unsigned>(files.size()), preamble | CXTranslationUnit_KeepGoing, &parsed);
        unit.reset(parsed);
        if (code != CXError_Success || !unit)
            return std::unexpected(failure(code));
        return {};
    }

    void useMode(ParseMode wanted) {
        mode = wanted;
        Toolchain allowed = toolchain;
        if (mode == ParseMode::Prelude)
            allowed.toolkit.reset();
        arguments = clangArguments(command, allowed);
    }

    [[nodiscard]] bool includesOnlyToolkitHeaders(const std::vector<Include>& directives) const {
        return std::ranges::any_of(directives, [&](const Include& include) {
            return include.resolved.empty() &&
                   isOnlyInToolkit(includeName(include.spelling), toolchain);
        });
    }

    [[nodiscard]] bool needsToolkit() const {
        return toolchain.toolkit &&
               (toolchain.preferToolkit || includesOnlyToolkitHeaders(includes) ||
                std::ranges::any_of(userFiles, [&](const ReachedFile& reached) {
                    const auto open = unsaved.find(reached.path);
                    const auto text = open != unsaved.end() ? std::optional(open->second)
                                                            : readFile(reached.path);
                    return text && includesOnlyToolkitHeaders(includeDirectives(*text));
                }));
    }

    /// Whether an error may come from a gap in the prelude, and the toolkit was not yet tried for
    /// it. While the user types, only names count that the prelude never mentions.
    [[nodiscard]] bool mayPreludeBeWrong(bool isTyping) {
        if (mode == ParseMode::Toolkit || !toolchain.toolkit || !unit)
            return false;
        std::set<std::string> names = namesInErrors(diagnostics());
        if (names.empty())
            return false;
        if (!headerWords) {
            std::set<std::string> headers;
            for (const Include& include : includes)
                headers.emplace(includeName(include.spelling));
            headerWords.emplace(toolchain, headers);
        }
        std::erase_if(names, [&](const std::string& name) {
            return isTyping ? !headerWords->isOnlyInToolkit(name) : !headerWords->isInToolkit(name);
        });
        const std::size_t known = triedNames.size();
        triedNames.insert(names.begin(), names.end());
        return triedNames.size() > known;
    }

    [[nodiscard]] std::ptrdiff_t errorCount() const {
        return std::ranges::count_if(diagnostics(), [](const Diagnostic& diagnostic) {
            return diagnostic.severity == Severity::Error &&
                   diagnostic.origin == DiagnosticOrigin::Compiler;
        });
    }

    /// Parses with the toolkit as well, and keeps that if it gives fewer errors.
    void tryToolkit() {
        const std::ptrdiff_t errors = errorCount();
        ClangUnit before = std::move(unit);
        useMode(ParseMode::Toolkit);
        if (parse() && unit && errorCount() < errors)
            return;
        useMode(ParseMode::Prelude);
        unit = std::move(before);
    }

    Result<void> reparse() {
        std::vector<CXUnsavedFile> files = clangFiles();
        const int code =
            clang_reparseTranslationUnit(unit.get(), static_cast<unsigned>(files.size()),
                                         files.data(), clang_defaultReparseOptions(unit.get()));
        if (code == CXError_Crashed)
            return std::unexpected(failure(code)); // It would crash again.
        if (code != 0)
            return parse(); // After a failed reparse the unit can only be disposed of.
        if (mayPreludeBeWrong(true))
            tryToolkit();
        return {};
    }

    Result<void> parseInBestMode() {
        useMode(needsToolkit() ? ParseMode::Toolkit : ParseMode::Prelude);
        const Result<void> parsed = parse();
        if (parsed && mayPreludeBeWrong(false))
            tryToolkit();
        return parsed;
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
            return notParsed ? std::vector{*notParsed} : std::vector<Diagnostic>{};
        return readDiagnostics(unit.get(), {file, *source, includes, userFiles,
                                            toolchain.toolkit ? ParseMode::Toolkit : mode,
                                            [this]() -> const KnownNames& {
                                                if (!preludeNames)
                                                    preludeNames =
                                                        namesInPrelude(toolchain.preludeInclude);
                                                return *preludeNames;
                                            }});
    }
};

TranslationUnit::TranslationUnit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TranslationUnit::TranslationUnit(TranslationUnit&&) noexcept = default;
TranslationUnit& TranslationUnit::operator=(TranslationUnit&&) noexcept = default;
TranslationUnit::~TranslationUnit() = default;

Result<TranslationUnit> TranslationUnit::parse(const fs::path& file, std::string text,
                                               const CompileCommand& command,
                                               const Toolchain& toolchain,
                                               const UnsavedFiles& unsaved, ParsePurpose purpose) {
    auto impl = std::make_unique<Impl>();
    std::error_code error;
    impl->file = fs::absolute(file, error).lexically_normal().string();
    impl->command = withoutToolkitFolders(command);
    impl->toolchain = toolchain;
    impl->systemDirectory = toolchain.preludeInclude.string();
    impl->purpose = purpose;
    impl->index.reset(clang_createIndex(0, 0));
    impl->setContent(std::move(text), unsaved);
    Result<void> parsed;
    runOnDeepStack([&] { parsed = impl->parseInBestMode(); });
    if (!parsed)
        return std::unexpected(parsed.error());
    return TranslationUnit(std::move(impl));
}

Result<void> TranslationUnit::reparse(std::string text, const UnsavedFiles& unsaved) {
    const std::vector<Include> before = std::move(impl_->includes);
    impl_->setContent(std::move(text), unsaved);
    const bool sameHeaders =
        std::ranges::equal(before, impl_->includes, {}, &Include::spelling, &Include::spelling);
    const bool isFresh = !impl_->unit || impl_->notParsed || !sameHeaders;
    Result<void> parsed;
    runOnDeepStack([&] { parsed = isFresh ? impl_->parseInBestMode() : impl_->reparse(); });
    return parsed;
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
    for (const ReachedFile& reached : impl_->userFiles) {
        model.userFiles.push_back(reached.path);
        if (const auto open = impl_->unsaved.find(reached.path); open != impl_->unsaved.end())
            model.unsavedHeaders.insert(*open);
    }
    if (impl_->unit)
        runOnDeepStack([&] {
            buildModel(impl_->unit.get(), impl_->systemDirectory, model);
            addDeviceFindings(model, impl_->command);
        });
    return model;
}

void prepareParser() {
    parseOnOwnThreads();
}

Result<FileModel> analyzeFile(const fs::path& file, std::string text, const CompileCommand& command,
                              const Toolchain& toolchain, const UnsavedFiles& unsaved) {
    Result<TranslationUnit> unit = TranslationUnit::parse(file, std::move(text), command, toolchain,
                                                          unsaved, ParsePurpose::Once);
    if (!unit)
        return std::unexpected(unit.error());
    return unit->model();
}

} // namespace kernelskill::analysis
