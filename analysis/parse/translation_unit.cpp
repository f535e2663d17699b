#include "analysis/parse/translation_unit.h"

#include "analysis/command/include_search.h"
#include "analysis/device_rules/device_rules.h"
#include "analysis/parse/clang_handle.h"
#include "analysis/parse/deep_stack.h"
#include "analysis/parse/diagnostic_reader.h"
#include "analysis/parse/launch_brackets.h"
#include "analysis/parse/mode_choice.h"
#include "analysis/parse/model_builder.h"
#include "analysis/parse/parsed_units.h"
#include "analysis/parse/preamble_end.h"
#include "analysis/parse/skipped_text.h"
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

/// Takes the launches away from kernels that other sources may launch as well.
void withholdPartialLaunches(FileModel& model, const CompileCommand& command) {
    if (!command.otherIncluders)
        return;
    for (const OtherIncluder& other : *command.otherIncluders) {
        model.otherIncluders.push_back(other.file);
        for (KernelModel& kernel : model.kernels) {
            // Other sources see neither the kernels nor the host functions of the includer itself.
            const bool isOwn = kernel.file == model.includer;
            const auto isNamed = [&](const std::string& name) {
                return other.words.contains(name.substr(name.rfind(':') + 1));
            };
            const bool mayLaunch =
                isNamed(kernel.name) ||
                std::ranges::any_of(kernel.launches, [&](const LaunchSite& launch) {
                    const HostFunction& host = model.hostFunctions.at(launch.host);
                    return host.file != model.includer && isNamed(host.name);
                });
            if (!isOwn && mayLaunch)
                kernel.alsoLaunchedIn.push_back(other.file);
        }
    }
    for (KernelModel& kernel : model.kernels)
        if (!kernel.alsoLaunchedIn.empty())
            kernel.launches.clear();
}

} // namespace

struct TranslationUnit::Impl {
    std::string file;
    std::string root; ///< The file that clang parses: the includer, or `file` itself.
    std::shared_ptr<const SourceText> source;
    std::shared_ptr<const SourceText> rootSource; ///< `source` without an includer.
    bool rootIsUnsaved = false;
    /// Texts of the files that were read last, kept with an includer.
    std::map<std::string, std::shared_ptr<const SourceText>, std::less<>> texts;
    std::string rootText; ///< The root's text as clang reads it, see preamble_end.h.
    std::vector<Include> rootIncludes;
    std::vector<ReachedFile> rootFiles; ///< User files that the root reaches.
    CompileCommand command;             ///< Without the toolkit's folders.
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

    [[nodiscard]] bool hasIncluder() const { return !command.includer.empty(); }

    /// Failed if the includer cannot be read.
    Result<void> setContent(std::string text, const UnsavedFiles& others) {
        source = std::make_shared<const SourceText>(std::move(text));
        notParsed = reasonNotToParse(file, source->text());
        unsaved = others;
        unsaved.erase(file);
        if (hasIncluder())
            unsaved[file] = withJoinedLaunchBrackets(std::string(source->text()));
        includes = resolvedIncludes(source->text(), file);
        const auto read = [this](const fs::path& path) {
            const auto open = unsaved.find(path.string());
            return open != unsaved.end() ? std::optional(open->second) : readFile(path);
        };
        const auto readAndKeep = [&](const fs::path& path) {
            auto text = read(path);
            auto& kept = texts[path.string()];
            if (text && (!kept || kept->text() != *text))
                kept = std::make_shared<const SourceText>(*text);
            return text;
        };
        // clang would wait for the end of a pipe: it gets an empty file in its place.
        const auto onIrregular = [this](const fs::path& path) {
            unsaved.try_emplace(path.string());
        };
        userFiles = reachableUserFiles(file, includes, command, read, onIrregular);
        if (!hasIncluder()) {
            rootSource = source;
            rootIncludes = includes;
            rootFiles = userFiles;
            rootText = withJoinedLaunchBrackets(std::string(source->text()));
            return {};
        }
        auto content = read(root);
        if (!content)
            return std::unexpected(Error{ErrorKind::Failed, "the file cannot be read", root, ""});
        rootIsUnsaved = unsaved.erase(root) > 0;
        rootSource = std::make_shared<const SourceText>(std::move(*content));
        if (!notParsed && reasonNotToParse(root, rootSource->text()))
            return std::unexpected(Error{ErrorKind::Failed, "the file is not analysed", root, ""});
        rootIncludes = resolvedIncludes(rootSource->text(), root);
        rootFiles = reachableUserFiles(root, rootIncludes, command, readAndKeep, onIrregular);
        rootText = withJoinedLaunchBrackets(std::string(rootSource->text()));
        endPreamble();
        return {};
    }

    [[nodiscard]] std::vector<Include> resolvedIncludes(std::string_view text,
                                                        const std::string& in) const {
        std::vector<Include> found = includeDirectives(text);
        for (Include& include : found)
            include.resolved =
                resolveUserInclude(include.spelling, fs::path(in).parent_path(), command).string();
        return found;
    }

    /// Keeps the file out of the preamble, where that changes nothing.
    void endPreamble() {
        const fs::path wanted = canonicalPath(file);
        const auto reached = std::ranges::find(rootFiles, wanted.string(), &ReachedFile::path);
        if (purpose == ParsePurpose::Once || reached == rootFiles.end())
            return;
        const Include& directive = rootIncludes[reached->directive];
        const auto same = std::ranges::count(rootIncludes, directive.resolved, &Include::resolved);
        const std::string content = canonicalPath(directive.resolved) == wanted
                                        ? source->text()
                                        : readFile(directive.resolved).value_or("");
        if (same == 1 || isGuarded(content))
            rootText = withPreambleEndBefore(directive, std::move(rootText));
    }

    [[nodiscard]] std::vector<CXUnsavedFile> clangFiles() const {
        std::vector<CXUnsavedFile> files;
        files.push_back({root.c_str(), rootText.c_str(), rootText.size()});
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
        const unsigned preamble = purpose != ParsePurpose::Once
                                      ? CXTranslationUnit_PrecompiledPreamble |
                                            CXTranslationUnit_CreatePreambleOnFirstParse
                                      : CXTranslationUnit_None;
        CXTranslationUnit parsed = nullptr;
        const CXErrorCode code = clang_parseTranslationUnit2(
            index.get(), root.c_str(), argumentPointers.data(),
            static_cast<int>(argumentPointers.size()), files.data(),
            static_cast<unsigned>(files.size()),
            preamble | CXTranslationUnit_KeepGoing | CXTranslationUnit_DetailedPreprocessingRecord,
            &parsed);
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
               (toolchain.preferToolkit || includesOnlyToolkitHeaders(rootIncludes) ||
                std::ranges::any_of(rootFiles, [&](const ReachedFile& reached) {
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
            for (const Include& include : rootIncludes)
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

    Result<void> reparse(bool isTyping) {
        std::vector<CXUnsavedFile> files = clangFiles();
        const int code =
            clang_reparseTranslationUnit(unit.get(), static_cast<unsigned>(files.size()),
                                         files.data(), clang_defaultReparseOptions(unit.get()));
        if (code == CXError_Crashed)
            return std::unexpected(failure(code)); // It would crash again.
        if (code != 0)
            return parse(); // After a failed reparse the unit can only be disposed of.
        if (mayPreludeBeWrong(isTyping))
            tryToolkit();
        return {};
    }

    /// The mode in which a text is parsed before anything is known of it.
    [[nodiscard]] ParseMode firstMode() const {
        return needsToolkit() ? ParseMode::Toolkit : ParseMode::Prelude;
    }

    /// Sets other contents. True if the preamble cannot serve for them.
    Result<bool> replaceContent(std::string text, const UnsavedFiles& others) {
        const std::vector<Include> before = std::move(includes);
        const std::vector<Include> rootBefore = std::move(rootIncludes);
        if (auto set = setContent(std::move(text), others); !set)
            return std::unexpected(set.error());
        const auto areSame = [](const std::vector<Include>& a, const std::vector<Include>& b) {
            return std::ranges::equal(a, b, {}, &Include::spelling, &Include::spelling);
        };
        return !unit || notParsed || !areSame(before, includes) ||
               !areSame(rootBefore, rootIncludes);
    }

    Result<void> parseInBestMode() {
        useMode(firstMode());
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

    [[nodiscard]] std::vector<Diagnostic>
    diagnostics(std::vector<std::string>* errorsElsewhere = nullptr) const {
        std::vector<std::string> unasked;
        if (!unit)
            return notParsed ? std::vector{*notParsed} : std::vector<Diagnostic>{};
        return readDiagnostics(unit.get(), {file,
                                            !hasIncluder()               ? nullptr
                                            : errorsElsewhere == nullptr ? &unasked
                                                                         : errorsElsewhere,
                                            *source, includes, userFiles,
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
    impl->toolchain.units.reset(); // They may own this one.
    impl->systemDirectory = toolchain.preludeInclude.string();
    impl->root = impl->hasIncluder() ? impl->command.includer : impl->file;
    impl->purpose = purpose;
    CXIndexOptions options{};
    options.Size = sizeof(CXIndexOptions);
    // A file of a preamble would outlive a process that is killed.
    options.StorePreamblesInMemory = purpose == ParsePurpose::Candidates ? 1 : 0;
    impl->index.reset(clang_createIndexWithOptions(&options));
    Result<void> parsed = impl->setContent(std::move(text), unsaved);
    if (!parsed)
        return std::unexpected(parsed.error());
    runOnDeepStack([&] { parsed = impl->parseInBestMode(); });
    if (!parsed)
        return std::unexpected(parsed.error());
    return TranslationUnit(std::move(impl));
}

Result<void> TranslationUnit::reparse(std::string text, const UnsavedFiles& unsaved) {
    const Result<bool> isFresh = impl_->replaceContent(std::move(text), unsaved);
    if (!isFresh)
        return std::unexpected(isFresh.error());
    Result<void> parsed;
    runOnDeepStack([&] { parsed = *isFresh ? impl_->parseInBestMode() : impl_->reparse(true); });
    return parsed;
}

Result<void> TranslationUnit::parseOther(std::string text, const UnsavedFiles& unsaved) {
    const Result<bool> isFresh = impl_->replaceContent(std::move(text), unsaved);
    if (!isFresh)
        return std::unexpected(isFresh.error());
    impl_->triedNames.clear();
    Result<void> parsed;
    runOnDeepStack([&] {
        const bool keepsMode = !*isFresh && impl_->mode == impl_->firstMode();
        parsed = keepsMode ? impl_->reparse(false) : impl_->parseInBestMode();
    });
    return parsed;
}

bool TranslationUnit::canParseOthers() const {
    return impl_->unit && !impl_->notParsed && impl_->mode == impl_->firstMode();
}

std::vector<Diagnostic> TranslationUnit::diagnostics() const {
    return impl_->diagnostics();
}

bool TranslationUnit::readsFile() const {
    if (!impl_->hasIncluder() || !impl_->unit)
        return true;
    CXTranslationUnit unit = impl_->unit.get();
    CXFile file = clang_getFile(unit, impl_->file.c_str());
    return file != nullptr && clang_equalLocations(clang_getLocationForOffset(unit, file, 0),
                                                   clang_getNullLocation()) == 0;
}

bool TranslationUnit::readsFileOnce() const {
    if (!readsFile())
        return false;
    if (!impl_->hasIncluder() || !impl_->unit)
        return true;
    CXFile file = clang_getFile(impl_->unit.get(), impl_->file.c_str());
    std::set<std::uint32_t> seen;
    bool isOnce = true;
    forEachChild(clang_getTranslationUnitCursor(impl_->unit.get()), [&](CXCursor cursor) {
        const CXCursorKind kind = clang_getCursorKind(cursor);
        if (kind != CXCursor_FunctionDecl && kind != CXCursor_FunctionTemplate &&
            kind != CXCursor_Namespace && kind != CXCursor_LinkageSpec)
            return;
        const ClangPlace place = expansionLocation(clang_getCursorLocation(cursor));
        if (place.file != nullptr && clang_File_isEqual(place.file, file) != 0)
            isOnce = seen.insert(place.offset).second && isOnce;
    });
    return isOnce;
}

FileModel TranslationUnit::model() const {
    FileModel model;
    model.file = impl_->file;
    model.source = impl_->source;
    model.mode = impl_->mode;
    model.diagnostics = impl_->diagnostics(&model.errorsElsewhere);
    model.includes = impl_->includes;
    model.userFiles.push_back(impl_->file);
    if (impl_->hasIncluder()) {
        model.includer = impl_->root;
        model.userFiles.push_back(impl_->root);
        model.otherSources.emplace(impl_->root, impl_->rootSource);
        if (impl_->rootIsUnsaved)
            model.unsavedHeaders.emplace(impl_->root, impl_->rootSource->text());
    }
    const std::string own = canonicalPath(impl_->file).string();
    for (const ReachedFile& reached : impl_->rootFiles) {
        if (reached.path == own)
            continue;
        model.userFiles.push_back(reached.path);
        if (const auto text = impl_->texts.find(reached.path);
            text != impl_->texts.end() && text->second)
            model.otherSources.insert(*text);
        if (const auto open = impl_->unsaved.find(reached.path); open != impl_->unsaved.end())
            model.unsavedHeaders.insert(*open);
    }
    if (impl_->unit)
        runOnDeepStack([&] {
            buildModel(impl_->unit.get(), impl_->systemDirectory, model);
            withholdPartialLaunches(model, impl_->command);
            addDeviceFindings(model, impl_->command);
            model.skipped = skippedText(impl_->unit.get(), model.userFiles);
        });
    return model;
}

void prepareParser() {
    parseOnOwnThreads();
}

Result<FileModel> analyzeFile(const fs::path& file, std::string text, const CompileCommand& command,
                              const Toolchain& toolchain, const UnsavedFiles& unsaved) {
    if (toolchain.units)
        return toolchain.units->analyze(file, std::move(text), command, toolchain, unsaved);
    Result<TranslationUnit> unit = TranslationUnit::parse(file, std::move(text), command, toolchain,
                                                          unsaved, ParsePurpose::Once);
    if (!unit)
        return std::unexpected(unit.error());
    return unit->model();
}

} // namespace kernelskill::analysis
