#include "engine/unit/slice.h"

#include "analysis/scan/conditional_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace kernelskill::engine {

using analysis::Declaration;
using analysis::DeclarationKind;
using analysis::Token;
using analysis::TokenKind;

namespace {

/// Whether device code can use the declaration.
bool isUsableOnDevice(const Declaration& declaration) {
    switch (declaration.kind) {
    case DeclarationKind::Function:
        return declaration.isDevice || declaration.isConstexpr || declaration.isDefaulted;
    case DeclarationKind::Variable:
        return declaration.isDevice || declaration.isConstexpr || declaration.isConst ||
               !declaration.owner.empty();
    case DeclarationKind::Other:
        return false;
    default:
        return true;
    }
}

bool isAlwaysKept(const Declaration& declaration) {
    const bool deviceOperator =
        declaration.isOperator && declaration.owner.empty() && declaration.isDevice;
    return deviceOperator || declaration.kind == DeclarationKind::UsingNamespace;
}

/// Extends the set of kept declarations until it contains all that they name.
class Closure {
public:
    Closure(const ScannedProgram& program, const SliceRequest& request)
        : program_(program), request_(request), slices_(program.files().size()) {
        for (std::size_t f = 0; f < program.files().size(); ++f) {
            for (const auto& declaration : program.files()[f].scan.declarations) {
                const Place place{f, &declaration};
                for (const auto& name : declaration.names)
                    byName_[name].push_back(place);
                if (!declaration.owner.empty())
                    byName_[declaration.owner].push_back(place);
            }
        }
    }

    std::vector<FileSlice> run() {
        keepRoots();
        for (const auto& name : request_.seeds)
            use(name);
        for (const auto& name : request_.forced)
            use(name);
        while (!pending_.empty()) {
            const auto name = std::move(pending_.back());
            pending_.pop_back();
            for (const auto& macro : program_.macros().all(name)) {
                for (const auto& token : analysis::lex(macro.body))
                    use(token);
            }
            const auto found = byName_.find(name);
            if (found == byName_.end())
                continue;
            for (const auto& place : found->second) {
                if (wanted(*place.declaration, name))
                    keep(place);
            }
        }
        for (auto& slice : slices_) {
            std::ranges::sort(slice.kept, {},
                              [](const auto* declaration) { return declaration->span; });
        }
        for (std::size_t f = 0; f < slices_.size(); ++f)
            findUnneededIncludes(f);
        return std::move(slices_);
    }

private:
    struct Place {
        std::size_t file;
        const Declaration* declaration;
    };

    bool wanted(const Declaration& declaration, const std::string& name) const {
        const bool named = std::ranges::find(declaration.names, name) != declaration.names.end();
        if (named && request_.forced.contains(name))
            return true;
        if (declaration.isKernel && request_.width == SliceWidth::Needed &&
            name != request_.kernelName && declaration.kind == DeclarationKind::Function)
            return false; // Another kernel that shares its name with a local variable.
        // Out-of-class members come with their class, not with any use of the member's name.
        const bool member = !declaration.owner.empty();
        return isUsableOnDevice(declaration) && (member ? declaration.owner == name : named);
    }

    void keepRoots() {
        for (std::size_t f = 0; f < program_.files().size(); ++f) {
            const auto& file = program_.files()[f];
            const bool kernelFile = file.source.path == request_.kernelFile;
            for (const auto& declaration : file.scan.declarations) {
                const bool kernel = kernelFile && declaration.span.contains(request_.kernelOffset);
                const bool wide =
                    request_.width == SliceWidth::DeviceCode && isUsableOnDevice(declaration);
                if (kernel || wide || isAlwaysKept(declaration))
                    keep({f, &declaration});
            }
        }
        use(request_.kernelName);
    }

    void use(const Token& token) {
        if (token.isIdentifier())
            use(std::string(token.text));
    }

    void use(std::string name) {
        if (used_.insert(name).second)
            pending_.push_back(std::move(name));
    }

    void keep(const Place& place) {
        if (!kept_.insert(place.declaration).second)
            return;
        auto& slice = slices_[place.file];
        slice.kept.push_back(place.declaration);
        const auto firstDropped = slice.dropped.size();
        dropHostMembers(*place.declaration, slice);
        const std::vector<analysis::Span> dropped(
            slice.dropped.begin() + static_cast<std::ptrdiff_t>(firstDropped), slice.dropped.end());
        const auto& tokens = program_.files()[place.file].tokens;
        auto token = std::ranges::lower_bound(tokens, place.declaration->span.begin, {},
                                              [](const Token& t) { return t.span.begin; });
        for (; token != tokens.end() && token->span.begin < place.declaration->span.end; ++token) {
            const bool inDropped = std::ranges::any_of(
                dropped, [&](auto span) { return span.contains(token->span.begin); });
            if (!inDropped)
                use(*token);
        }
        for (const IncludeLine& include : program_.files()[place.file].source.includes) {
            const bool inDropped = std::ranges::any_of(
                dropped, [&](auto span) { return span.contains(include.span.begin); });
            if (!inDropped && isBetweenBrackets(place, include))
                keepWhole(include);
        }
    }

    /// Whether the #include stands inside of an initializer, a body or the like, and not only
    /// within what the scan takes for one declaration.
    bool isBetweenBrackets(const Place& place, const IncludeLine& include) const {
        const auto& tokens = program_.files()[place.file].tokens;
        const analysis::Span span = place.declaration->span;
        if (!span.contains(include.span.begin))
            return false;
        int depth = 0;
        auto token = std::ranges::lower_bound(tokens, span.begin, {},
                                              [](const Token& t) { return t.span.begin; });
        for (; token != tokens.end() && token->span.begin < include.span.begin; ++token) {
            if (token->text == "{" || token->text == "(" || token->text == "[")
                ++depth;
            else if (token->text == "}" || token->text == ")" || token->text == "]")
                --depth;
        }
        return depth > 0;
    }

    std::optional<std::size_t> fileOf(const IncludeLine& include) const {
        for (std::size_t f = 0; f < program_.files().size(); ++f)
            if (!include.resolved.empty() && program_.files()[f].source.path == include.resolved)
                return f;
        return std::nullopt;
    }

    void keepWhole(const IncludeLine& include) {
        const auto f = fileOf(include);
        if (!f || std::exchange(slices_[*f].isWhole, true))
            return;
        const auto& file = program_.files()[*f];
        for (const Token& token : file.tokens)
            use(token);
        for (const IncludeLine& inner : file.source.includes)
            keepWhole(inner);
    }

    void findUnneededIncludes(std::size_t f) {
        const auto& file = program_.files()[f];
        FileSlice& slice = slices_[f];
        for (const IncludeLine& include : file.source.includes) {
            const auto included = fileOf(include);
            if (!included || !slices_[*included].isWhole)
                continue;
            const bool isUnneeded =
                std::ranges::any_of(slice.dropped,
                                    [&](auto span) { return span.contains(include.span.begin); }) ||
                std::ranges::any_of(file.scan.declarations, [&](const Declaration& declaration) {
                    return !kept_.contains(&declaration) &&
                           isBetweenBrackets({f, &declaration}, include);
                });
            if (isUnneeded)
                slice.unneededIncludes.push_back(include.span);
        }
    }

    void dropHostMembers(const Declaration& type, FileSlice& slice) const {
        for (const auto& member : type.members) {
            const bool forced = std::ranges::any_of(
                member.names, [&](const auto& name) { return request_.forced.contains(name); });
            if (member.kind == DeclarationKind::Function && !isUsableOnDevice(member) && !forced)
                slice.dropped.push_back(member.span);
            else
                dropHostMembers(member, slice);
        }
    }

    const ScannedProgram& program_;
    const SliceRequest& request_;
    std::vector<FileSlice> slices_;
    std::map<std::string, std::vector<Place>, std::less<>> byName_;
    std::set<const Declaration*> kept_;
    std::set<std::string> used_;
    std::vector<std::string> pending_;
};

} // namespace

ScannedProgram::ScannedProgram(std::vector<UserFile> files,
                               const std::vector<std::string>& definitions) {
    for (const auto& definition : definitions)
        macros_.addOption(definition);
    files_.reserve(files.size());
    for (auto& file : files) {
        auto& scanned = files_.emplace_back(File{std::move(file), {}, {}});
        const auto tokens = analysis::lex(scanned.source.text);
        macros_.addDefinitionsOf(tokens);
        scanned.tokens = withoutDisabled(tokens);
    }
    for (auto& file : files_)
        file.scan = scanDeclarations(structuralTokens(file.tokens), macros_);
}

std::vector<FileSlice> sliceProgram(const ScannedProgram& program, const SliceRequest& request) {
    return Closure(program, request).run();
}

void blank(std::string& text, analysis::Span span) {
    for (auto i = span.begin; i < span.end && i < text.size(); ++i) {
        const bool lineEnd = text[i] == '\n' || text[i] == '\r';
        const bool splice =
            text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r');
        if (!lineEnd && !splice)
            text[i] = ' ';
    }
}

std::string blankedText(const ScannedProgram::File& file, const FileSlice& slice) {
    const auto& text = file.source.text;
    if (slice.isWhole)
        return text;
    auto result = text;
    blank(result, {0, static_cast<std::uint32_t>(text.size())});
    const auto restore = [&](analysis::Span span) {
        result.replace(span.begin, span.size(), text, span.begin, span.size());
    };
    for (const auto& token : file.tokens) {
        if (token.kind == TokenKind::Directive)
            restore(token.span);
    }
    for (const auto& span : file.scan.blockDelimiters)
        restore(span);
    for (const auto* declaration : slice.kept)
        restore(declaration->span);
    for (const auto& span : slice.dropped) {
        blank(result, span);
        for (const auto& token :
             file.tokens) { // Directives inside a dropped member match those outside.
            if (token.kind == TokenKind::Directive && span.contains(token.span.begin))
                restore(token.span);
        }
    }
    for (const auto& span : slice.unneededIncludes)
        blank(result, span);
    return result;
}

} // namespace kernelskill::engine
