#include "analysis/parse/model_builder.h"

#include "analysis/model/kernel_facts.h"
#include "analysis/model/normalised_hash.h"
#include "analysis/parse/function_lowering.h"
#include "analysis/parse/host_only_code.h"
#include "analysis/parse/type_lowering.h"
#include "analysis/queries/launch_constants.h"
#include "analysis/scan/constant_text.h"
#include "analysis/syntax/lexer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

namespace kernelskill::analysis {

namespace {

bool isFunction(CXCursorKind kind) {
    return kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate ||
           kind == CXCursor_CXXMethod || kind == CXCursor_Constructor;
}

bool isScope(CXCursorKind kind) {
    return kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec ||
           kind == CXCursor_UnexposedDecl || kind == CXCursor_StructDecl ||
           kind == CXCursor_ClassDecl || kind == CXCursor_ClassTemplate ||
           kind == CXCursor_ClassTemplatePartialSpecialization;
}

struct Attributes {
    bool global = false;
    bool device = false;
    bool host = false;
};

Attributes attributesOf(CXCursor function) {
    Attributes attributes;
    forEachChild(function, [&](CXCursor child) {
        switch (clang_getCursorKind(child)) {
        case CXCursor_CUDAGlobalAttr:
            attributes.global = true;
            break;
        case CXCursor_CUDADeviceAttr:
            attributes.device = true;
            break;
        case CXCursor_CUDAHostAttr:
            attributes.host = true;
            break;
        default:
            break;
        }
    });
    return attributes;
}

class ModelBuilder {
public:
    ModelBuilder(CXTranslationUnit unit, const std::string& systemDirectory, FileModel& model)
        : unit_(unit), systemDirectory_(systemDirectory), model_(model), functions_(unit, types_) {}

    void build() {
        visit(clang_getTranslationUnitCursor(unit_));
        std::ranges::stable_partition(
            model_.kernels, [&](const KernelModel& kernel) { return kernel.file == model_.file; });
        collectFacts(model_, callees_);
        attachLaunches();
    }

private:
    struct SourceFile {
        std::string path;
        std::string_view text;
        bool isSystem = false;
        bool hasLaunchSyntax = false;
        bool definesLaunchMacro = false;
    };

    void visit(CXCursor scope) {
        forEachChild(scope, [&](CXCursor cursor) {
            const CXCursorKind kind = clang_getCursorKind(cursor);
            if (!isFunction(kind) && !isScope(kind))
                return;
            const CXSourceLocation location = clang_getCursorLocation(cursor);
            if (clang_Location_isInSystemHeader(location) != 0)
                return;
            if (isScope(kind))
                visit(cursor);
            else if (clang_isCursorDefinition(cursor) != 0)
                consider(cursor, location);
        });
    }

    const SourceFile& sourceOf(CXFile file) {
        const auto [entry, isNew] = files_.try_emplace(file);
        SourceFile& source = entry->second;
        if (!isNew)
            return source;
        source.path = takeString(clang_getFileName(file));
        if (CXFile main = clang_getFile(unit_, model_.file.c_str());
            main != nullptr && clang_File_isEqual(main, file) != 0)
            source.path = model_.file;
        else if (CXFile includer = model_.includer.empty()
                                       ? nullptr
                                       : clang_getFile(unit_, model_.includer.c_str());
                 includer != nullptr && clang_File_isEqual(includer, file) != 0)
            source.path = model_.includer;
        else if (const std::string real = takeString(clang_File_tryGetRealPathName(file));
                 !real.empty())
            source.path = real;
        source.isSystem = source.path.starts_with(systemDirectory_);
        std::size_t size = 0;
        if (const char* text = clang_getFileContents(unit_, file, &size))
            source.text = {text, size};
        source.hasLaunchSyntax =
            !source.isSystem && source.text.find("<<<") != std::string_view::npos;
        if (source.hasLaunchSyntax)
            for (const Token& token : lex(source.text))
                source.definesLaunchMacro =
                    source.definesLaunchMacro || (token.kind == TokenKind::Directive &&
                                                  token.text.find("<<<") != std::string_view::npos);
        launchMacros_ = launchMacros_ || source.definesLaunchMacro;
        return source;
    }

    void consider(CXCursor cursor, CXSourceLocation location) {
        const ClangPlace place = expansionLocation(location);
        if (place.file == nullptr)
            return;
        const SourceFile& source = sourceOf(place.file);
        if (source.isSystem)
            return;
        const Attributes attributes = attributesOf(cursor);
        if (attributes.global || attributes.device) {
            addKernel(cursor, source, attributes);
            return;
        }
        const CXSourceRange range = clang_getCursorExtent(cursor);
        const std::uint32_t begin = fileLocation(clang_getRangeStart(range)).offset;
        const std::uint32_t end = fileLocation(clang_getRangeEnd(range)).offset;
        const std::string_view text = begin <= end && end <= source.text.size()
                                          ? source.text.substr(begin, end - begin)
                                          : std::string_view();
        collectHostOnly(cursor,
                        {source.text, {begin, end}, source.path == model_.file, systemDirectory_},
                        model_.hostOnly);
        if (launchMacros_ || (source.hasLaunchSyntax && text.contains("<<<")))
            addHost(cursor, source);
        if (clang_getCursorKind(cursor) == CXCursor_FunctionDecl && source.path == model_.file &&
            text.contains("for") && text.contains('[') && !text.contains("<<<"))
            addLoopFunction(cursor, source);
    }

    void addKernel(CXCursor cursor, const SourceFile& source, Attributes attributes) {
        const FunctionKind kind = attributes.global ? FunctionKind::Kernel
                                  : attributes.host ? FunctionKind::HostDevice
                                                    : FunctionKind::Device;
        auto& list = attributes.global ? model_.kernels : model_.deviceFunctions;
        list.push_back(lowered(cursor, source, kind));
    }

    void addLoopFunction(CXCursor cursor, const SourceFile& source) {
        KernelModel function = lowered(cursor, source, FunctionKind::Host);
        const bool hasLoop = std::ranges::find(function.body.stmts, StmtKind::For, &Stmt::kind) !=
                             function.body.stmts.end();
        const bool hasArray =
            std::ranges::any_of(function.parameters, [](const Parameter& parameter) {
                return parameter.type.pointerDepth > 0;
            });
        if (hasLoop && hasArray)
            model_.loopFunctions.push_back(std::move(function));
    }

    KernelModel lowered(CXCursor cursor, const SourceFile& source, FunctionKind kind) {
        LoweredFunction lowered = functions_.lower(cursor);
        noteOmission(lowered, source);
        KernelModel kernel;
        kernel.kind = kind;
        kernel.name = spellingOf(cursor);
        kernel.qualifiedName = qualifiedNameOf(cursor);
        kernel.file = source.path;
        kernel.span = lowered.span;
        kernel.nameSpan = lowered.nameSpan;
        kernel.bodySpan = lowered.bodySpan;
        kernel.fromMacro = lowered.fromMacro;
        kernel.templateParameters = std::move(lowered.templateParameters);
        for (std::size_t i = 0; i < lowered.parameters.size(); ++i) {
            const Variable& variable = lowered.body.variable(lowered.parameters[i]);
            Parameter parameter;
            parameter.variable = lowered.parameters[i];
            parameter.name = variable.name;
            parameter.type = variable.type;
            parameter.span = lowered.parameterSpans[i];
            kernel.parameters.push_back(std::move(parameter));
        }
        kernel.body = std::move(lowered.body);
        readLaunchBounds(kernel, source);
        if (kernel.bodySpan.end <= source.text.size())
            kernel.normalisedHash = normalisedHash(
                kernel, source.text.substr(kernel.bodySpan.begin, kernel.bodySpan.size()));
        std::map<ExprId, std::vector<std::string>> callees;
        for (auto& [call, candidates] : lowered.callees)
            for (Callee& callee : candidates)
                if (!callee.inSystemHeader)
                    callees[call].push_back(std::move(callee.qualifiedName));
        callees_.emplace(functionKey(kernel), std::move(callees));
        return kernel;
    }

    void noteOmission(const LoweredFunction& function, const SourceFile& source) {
        if (!function.omission)
            return;
        Diagnostic note;
        note.file = source.path;
        note.span = function.omission->span;
        note.severity = Severity::Information;
        note.origin = DiagnosticOrigin::Notice;
        note.code = "not-analysed";
        note.message = function.omission->reason == Omission::Reason::Nesting
                           ? "Code that is nested deeper than " + std::to_string(maxTreeNesting) +
                                 " levels is not analysed"
                           : "The function has more than " + std::to_string(maxTreeExpressions) +
                                 " expressions; the rest of it is not analysed";
        model_.diagnostics.push_back(std::move(note));
    }

    void addHost(CXCursor cursor, const SourceFile& source) {
        LoweredFunction lowered = functions_.lower(cursor);
        if (lowered.launches.empty())
            return;
        noteOmission(lowered, source);
        const auto index = static_cast<std::uint32_t>(model_.hostFunctions.size());
        for (LaunchSite& site : lowered.launches) {
            site.host = index;
            site.constantBlock = constantDimensions(lowered.body, site.block);
            launches_.push_back(std::move(site));
        }
        if (source.path != model_.file && !model_.otherSources.contains(source.path))
            model_.otherSources.emplace(
                source.path, std::make_shared<const SourceText>(std::string(source.text)));
        model_.hostFunctions.push_back(
            {spellingOf(cursor), source.path, lowered.span, std::move(lowered.body)});
    }

    /// Reads the bounds from the text, because libclang does not expose their expressions.
    void readLaunchBounds(KernelModel& kernel, const SourceFile& source) const {
        const std::uint32_t end = std::max(kernel.nameSpan.begin, kernel.span.begin);
        if (kernel.fromMacro || end > source.text.size())
            return;
        const std::vector<Token> tokens = lex(source.text, {kernel.span.begin, end});
        const auto name = std::ranges::find(tokens, "__launch_bounds__", &Token::text);
        if (name == tokens.end() || name + 1 == tokens.end() || (name + 1)->text != "(")
            return;
        const auto open = static_cast<std::size_t>(name + 1 - tokens.begin());
        const std::size_t close = matchingBracket(tokens, open);
        if (close >= tokens.size())
            return;
        const std::string_view inside = source.text.substr(
            tokens[open].span.end, tokens[close].span.begin - tokens[open].span.end);
        const std::vector<std::optional<std::int64_t>> values =
            evaluateConstantList(inside, source.text);
        if (!values.empty())
            kernel.launchBoundsThreads = values[0];
        if (values.size() > 1)
            kernel.launchBoundsBlocks = values[1];
    }

    void attachLaunches() {
        for (const LaunchSite& site : launches_)
            for (KernelModel& kernel : model_.kernels)
                if (kernel.qualifiedName == site.kernelName)
                    kernel.launches.push_back(site);
    }

    CXTranslationUnit unit_;
    const std::string& systemDirectory_;
    FileModel& model_;
    TypeLowering types_;
    FunctionLowering functions_;
    std::unordered_map<void*, SourceFile> files_;
    std::vector<LaunchSite> launches_;
    CalleeTable callees_;
    bool launchMacros_ = false;
};

} // namespace

void buildModel(CXTranslationUnit unit, const std::string& systemDirectory, FileModel& model) {
    ModelBuilder(unit, systemDirectory, model).build();
}

} // namespace kernelskill::analysis
